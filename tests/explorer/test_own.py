"""`unweave.explore`: runs, folders and decoders of any library, from Python and in a notebook."""

from __future__ import annotations

import io
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import unweave
from unweave.errors import UsageError
from unweave.explorer.own import as_arrays, open_own

CODES = np.random.default_rng(0).normal(size=(200, 3))


def decode(codes: np.ndarray) -> np.ndarray:
    """Return images whose three channels are the three latents."""
    level = 1 / (1 + np.exp(-codes))
    return np.broadcast_to(level[:, None, None, :], (len(codes), 8, 6, 3))


def fetch(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def asked(url: str) -> Any:
    status, body = fetch(url)
    assert status == 200, body
    return json.loads(body)


def test_any_decoder_has_sliders_and_images():
    with unweave.explore(decode=decode, codes=CODES, factors=CODES[:, :1] > 0, names=["sign"]) as page:
        assert page.url.startswith("http://127.0.0.1:")
        (identity,) = asked(f"{page.url}api/table")["rows"]["id"]
        found = asked(f"{page.url}api/run?run={identity}")
        assert (found["kind"], found["shape"], found["sampled"], found["of"]) == ("images", [8, 6, 3], 200, 200)
        assert found["latents"][1]["quantiles"][20] == pytest.approx(CODES[:, 1].max())
        _, body = fetch(f"{page.url}api/run/decode?run={identity}&z=0,20,-20")
        assert np.asarray(Image.open(io.BytesIO(body)))[0, 0].tolist() == [128, 255, 0]
        matrix = asked(f"{page.url}api/matrix?run={identity}&kind=mi")
        assert (matrix["factors"], matrix["matched"]) == (["sign"], [0])
        assert fetch(f"{page.url}api/run/reconstructions?run={identity}")[0] == 409
        assert asked(f"{page.url}api/groups")["groups"] == []
        assert asked(f"{page.url}api/changes")["changed"] is True
        assert fetch(f"{page.url}api/run?run=other")[0] == 404


def test_a_decoder_may_come_first_and_give_vectors():
    with unweave.explore(lambda codes: codes @ np.ones((3, 5)), codes=CODES) as page:
        assert asked(f"{page.url}api/run?run=model")["kind"] == "vectors"
        assert asked(f"{page.url}api/run/decode?run=model&z=1,2,3")["values"] == [6.0] * 5
        strip = asked(f"{page.url}api/run/traversal?run=model&latent=0&z=0,1,1&low=0&high=2&steps=3")
        assert (strip["at"], strip["values"][2]) == ([0.0, 1.0, 2.0], [4.0] * 5)


def test_a_decoder_that_fails_later_is_one_line():
    calls = []

    def flaky(codes: np.ndarray) -> np.ndarray:
        calls.append(len(codes))
        if len(calls) > 1:
            raise RuntimeError("no more")
        return decode(codes)

    with unweave.explore(decode=flaky, codes=CODES) as page:
        status, body = fetch(f"{page.url}api/run/decode?run=model&z=0,0,0")
        assert (status, json.loads(body)) == (409, {"error": "decode failed: RuntimeError: no more"})


def test_a_decoder_that_leaves_the_range_later_is_one_line():
    with unweave.explore(decode=lambda codes: np.tile(codes[:, None, None, :], (1, 4, 4, 1)), codes=CODES / 9) as page:
        assert fetch(f"{page.url}api/run/decode?run=model&z=0,1,0")[0] == 200
        status, body = fetch(f"{page.url}api/run/decode?run=model&z=0,9,0")
        assert (status, "these are 0 to 9" in json.loads(body)["error"]) == (409, True)


def test_closing_frees_the_port_and_can_be_done_twice():
    page = unweave.explore(decode=decode, codes=CODES)
    assert "<iframe" in page._repr_html_()
    assert page.url in page._repr_html_()
    page.close()
    page.close()
    assert "closed" in repr(page)
    assert "<iframe" not in page._repr_html_()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(page.url, timeout=60)
    port = int(page.url.rstrip("/").rsplit(":", 1)[1])
    with unweave.explore(decode=decode, codes=CODES, port=port) as again:
        assert again.url == page.url
        with pytest.raises(UsageError, match=f"port {port}"):
            unweave.explore(decode=decode, codes=CODES, port=port)


def test_a_run_is_shown_as_it_is_in_memory(world, runs):
    run = unweave.Run.open(world / runs[0])
    with unweave.explore(run, samples=50) as page:
        found = asked(f"{page.url}api/run?run=.")
        assert (found["config"], found["sampled"]) == (run.config, 50)
        assert asked(f"{page.url}api/table")["rows"]["id"] == ["."]
        _, body = fetch(f"{page.url}api/run/decode?run=.&z=1,0,0,0")
        shown = np.asarray(Image.open(io.BytesIO(body)))
        assert np.array_equal(shown, run.decode(np.array([[1.0, 0, 0, 0]]))[0, ..., 0])


def test_a_notebook_may_show_the_page_and_a_web_site_may_not():
    with unweave.explore(decode=decode, codes=CODES) as page, urllib.request.urlopen(page.url) as answer:
        ancestors = answer.headers["content-security-policy"].split("frame-ancestors ")[1]
        assert "http://localhost:*" in ancestors
        assert not any(word in ("*", "https:", "http:") for word in ancestors.split())


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, "say what to explore"),
        ({"decode": decode}, "decode needs codes"),
        ({"what": "runs", "decode": decode, "codes": CODES}, "give either a run"),
        ({"what": "nowhere"}, "there is no folder 'nowhere'"),
        ({"what": __file__}, "is a file; explore its folder"),
        ({"what": ".", "codes": CODES}, "need decode"),
        ({"decode": decode, "codes": CODES[0]}, "codes"),
        ({"decode": decode, "codes": CODES, "factors": CODES[:5]}, "the same number of rows: 200 and 5"),
        ({"decode": decode, "codes": CODES, "factors": CODES[:, :2], "names": ["a"]}, "2 factors, but 1 names"),
        ({"decode": lambda codes: "image", "codes": CODES}, "decode must return 1 images"),
        ({"decode": lambda codes: np.zeros((2, 8, 8, 3)), "codes": CODES}, "decode must return 1 images"),
        ({"decode": lambda codes: np.full((1, 8, 8, 3), 255.0), "codes": CODES}, "floats from 0 to 1, or uint8, but"),
        ({"decode": lambda codes: np.full((1, 8, 8, 3), -0.6), "codes": CODES}, "are -0.6 to -0.6"),
        ({"decode": lambda codes: np.full((1, 8, 8, 3), np.nan), "codes": CODES}, "values that are not finite"),
        ({"decode": lambda codes: np.full((1, 5), np.inf), "codes": CODES}, "values that are not finite"),
        ({"decode": lambda codes: np.zeros((1, 8, 8, 2)), "codes": CODES}, "1, 3 or 4 channels"),
        ({"decode": lambda codes: np.zeros((1, 8, 8, 5), np.uint8), "codes": CODES}, "not of shape (1, 8, 8, 5)"),
        ({"decode": lambda codes: codes @ np.ones((7, 2)), "codes": CODES}, "decode failed: ValueError: matmul"),
        ({"decode": decode, "codes": CODES, "samples": 1}, "samples must be 2 or more"),
        ({"decode": decode, "codes": CODES, "host": "no.such.host.invalid"}, "not an address of this machine"),
        ({"decode": decode, "codes": CODES, "port": 99_999}, "99999"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments, line):
    with pytest.raises(UsageError) as caught:
        unweave.explore(**arguments)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_images_of_all_kinds_become_bytes():
    import torch

    assert as_arrays(torch.ones(1, 3, 5, 6), 1).shape == (1, 5, 6, 3)  # channels first, as torch has them
    assert as_arrays(np.array([[[0.5, -0.2, 1.4]]]), 1).ravel().tolist() == [128, 0, 255]
    assert as_arrays(np.array([[[True, False]]]), 1).ravel().tolist() == [255, 0]
    assert as_arrays(np.full((1, 2, 2, 1), 300), 1).max() == 255
    opened = open_own(decode, CODES)
    assert opened.decode(CODES[:4]).dtype == np.uint8


def test_what_is_missing_is_said_in_one_line(monkeypatch):
    from unweave.explorer import served

    monkeypatch.setattr(served, "NEEDED", ("starlette", "no_such_package"))
    with pytest.raises(UsageError, match=r"needs no_such_package; install the extra: pip install 'unweave\[web\]'"):
        unweave.explore(Path())
