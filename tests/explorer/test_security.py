"""Who is answered, and what never is: other pages, other names, paths, links, long and broken requests."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlsplit

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.types import Message

from unweave.explorer import Explorer, create_app
from unweave.explorer.guard import Rules

SECRET = "what-nobody-may-read"
HOST = b"127.0.0.1:8000"
STATUSES = (200, 400, 403, 404, 405, 409, 413)
ROUTES = (
    *("/api/index", "/api/table", "/api/groups", "/api/changes", "/api/run", "/api/run/curves", "/api/run/code"),
    *("/api/run/decode", "/api/run/image", "/api/run/traversal", "/api/run/traversals", "/api/run/animation"),
    *("/api/run/reconstructions", "/api/matrix", "/api/scatter", "/api/compare", "/api/data", "/api/data/samples"),
    *("/api/data/traversal", "/api/geometry", "/page/main.js", "/"),
)


class Asked:
    """Asks an application for exactly these bytes, which no client would send."""

    def __init__(self, app) -> None:
        self._app = app

    def __call__(
        self, path: str, query: bytes = b"", method: str = "GET", headers: list[tuple[bytes, bytes]] | None = None
    ) -> tuple[int, dict[bytes, bytes], bytes]:
        from urllib.parse import unquote

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query,
            "root_path": "",
            "headers": [(b"host", HOST)] if headers is None else headers,
            "server": ("127.0.0.1", 8000),
            "client": ("127.0.0.1", 1),
        }
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        async def ask() -> None:
            await self._app(scope, receive, send)

        anyio.run(ask)
        body = b"".join(message.get("body", b"") for message in sent[1:])
        return sent[0]["status"], dict(sent[0]["headers"]), body


@pytest.fixture(scope="module")
def folder(world: Path, runs: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run, and links of all kinds to a secret outside of it."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text(SECRET)
    (outside / "run").mkdir()
    for name in ("config.json", "status.json"):
        shutil.copy(world / runs[0] / name, outside / "run" / name)
    config = json.loads((outside / "run" / "config.json").read_text())
    (outside / "run" / "config.json").write_text(json.dumps({**config, "note": SECRET}))
    inside = outside.parent / "inside"
    shutil.copytree(world / runs[0], inside / "good")
    shutil.copytree(world / runs[0], inside / "linked")
    (inside / "linked" / "config.json").unlink()
    (inside / "linked" / "config.json").symlink_to(outside / "run" / "config.json")
    (inside / "away").symlink_to(outside, target_is_directory=True)
    (inside / "loop").symlink_to(inside, target_is_directory=True)
    (inside / "secret.npz").symlink_to(outside / "secret.txt")
    return inside


@pytest.fixture(scope="module")
def ask(folder: Path) -> Asked:
    return Asked(create_app(Explorer(folder, samples=50)))


def refused(answer: tuple[int, dict[bytes, bytes], bytes], status: int) -> str:
    """Check that an answer is a refusal of one clear line, and return the line."""
    found, headers, body = answer
    assert (found, headers[b"content-type"]) == (status, b"application/json")
    line = json.loads(body)["error"]
    assert "\n" not in line
    assert "Traceback" not in line
    return line


@pytest.mark.parametrize(
    "host",
    [
        *("evil.com", "evil.com:8000", "127.0.0.1.evil.com", "localhost.evil.com", "127.0.0.1@evil.com"),
        *("", "127.0.0.1:port", "127.0.0.1/x", "[::1", "0.0.0.0", "192.168.0.1", "127.0.0.1 evil.com", "2130706433"),
        "evil.com#127.0.0.1",
    ],
)
def test_a_request_to_another_name_is_refused(ask, host):
    assert "own address" in refused(ask("/api/index", headers=[(b"host", host.encode())]), 403)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST", "127.0.0.1", "[::1]:99"])
def test_a_request_to_this_machine_is_answered(ask, host):
    assert ask("/api/index", headers=[(b"host", host.encode())])[0] == 200


@pytest.mark.parametrize("headers", [[], [(b"host", HOST), (b"host", b"evil.com")], [(b"host", HOST), (b"host", HOST)]])
def test_a_request_needs_one_host(ask, headers):
    refused(ask("/api/index", headers=headers), 403)


def test_other_addresses_count_where_other_machines_may_ask():
    rules = Rules("0.0.0.0")
    assert rules.is_ours("192.168.0.7:8000")
    assert rules.is_ours("localhost:8000")
    assert not rules.is_ours("evil.com:8000")


@pytest.mark.parametrize(
    "origin", ["http://evil.com", "null", "http://127.0.0.1:9999", "http://localhost:8000", "file://", "127.0.0.1:8000"]
)
def test_a_request_from_another_page_is_refused(ask, origin):
    refused(ask("/api/index", headers=[(b"host", HOST), (b"origin", origin.encode())]), 403)


def test_a_request_from_our_page_is_answered(ask):
    assert ask("/api/index", headers=[(b"host", HOST), (b"origin", b"http://" + HOST)])[0] == 200


def test_another_site_may_link_to_the_page_and_no_more(ask):
    other = [(b"host", HOST), (b"sec-fetch-site", b"cross-site")]
    refused(ask("/api/index", headers=other), 403)
    refused(ask("/api/run/decode", b"run=good", headers=[*other, (b"sec-fetch-mode", b"no-cors")]), 403)
    refused(ask("/api/index", headers=[*other, (b"sec-fetch-mode", b"navigate")]), 403)
    assert ask("/", headers=[*other, (b"sec-fetch-mode", b"navigate")])[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", ""])
@pytest.mark.parametrize("path", ["/", "/api/index", "/api/run", "/nowhere"])
def test_nothing_can_be_written(ask, method, path):
    assert "nothing can be changed" in refused(ask(path, method=method), 405)


def test_a_websocket_is_refused(folder):
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    async def connect() -> None:
        await create_app(Explorer(folder))({"type": "websocket", "path": "/", "headers": []}, receive, send)

    anyio.run(connect)
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_every_answer_says_what_a_page_may_do(ask):
    for path in ("/", "/api/index", "/api/nothing", "/page/main.js"):
        headers = ask(path)[1]
        policy = headers[b"content-security-policy"].decode()
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers[b"x-content-type-options"] == b"nosniff"
        assert headers[b"cross-origin-resource-policy"] == b"same-origin"


def test_the_scripts_within_the_page_are_those_that_its_policy_names(ask):
    import base64
    import hashlib

    _, headers, body = ask("/")
    inside = body.split(b'<script type="importmap">')[1].split(b"</script>")[0]
    digest = base64.b64encode(hashlib.sha256(inside).digest())
    assert b"'sha256-" + digest + b"'" in headers[b"content-security-policy"]


OUTSIDE = (
    *("..", "../outside", "good/../../outside/run", "/etc/passwd", "%2e%2e", "%2e%2e/outside0/run", "..%2foutside0"),
    *(
        "..;/outside0/run",
        "good;/..",
        "..\\outside0\\run",
        "%252e%252e%252foutside0",
        "good/.",
        "./good",
        "good/",
        "//good",
    ),
    *(
        "away/run",
        "away",
        "linked",
        "loop/good",
        "secret.npz",
        "away/secret.txt",
        "good/config.json",
        "~",
        "\x00",
        "good\x00",
    ),
    *("file:///etc/passwd", "C:\\", "..%c0%af..", "．．/outside0", "good%00.npz", "*", "good\n"),
)


@pytest.mark.parametrize("identity", OUTSIDE, ids=repr)
def test_an_identity_is_looked_up_and_never_a_path(ask, identity):
    for query in (quote(identity, safe="").encode(), identity.encode()):
        for path, name in (("/api/run", b"run"), ("/api/run/curves", b"run"), ("/api/geometry", b"points")):
            status, _, body = ask(path, name + b"=" + query)
            assert status in (400, 404)
            assert SECRET.encode() not in body
    status, _, body = ask("/api/table", b"study=" + quote(identity, safe="").encode())
    assert status in (400, 404)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/page/../app.py",
            "/page/%2e%2e/app.py",
            "/page/..%2fapp.py",
            "/page/%252e%252e/app.py",
            "/page//etc/passwd",
        ),
        *("/page/lib/../../app.py", "/page/..;/app.py", "/page/..\\app.py", "/page/lib", "/page/", "/page/__pycache__"),
        *("//etc/passwd", "/../../etc/passwd", "/api/../app.py", "/api", "/api/", "/api/run/", "/plotly.js/", "/page"),
    ],
)
def test_only_files_of_the_page_are_served(ask, path):
    refused(ask(path), 404)


def test_links_that_lead_out_are_not_in_the_index(ask):
    found = json.loads(ask("/api/index")[2])
    assert (found["runs"], found["codes"], found["points"]) == (1, [], [])
    assert json.loads(ask("/api/table")[2])["rows"]["id"] == ["good"]


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/run", b"run=" + b"a" * 60_000),
        ("/api/run", b"run=" + b"a" * 3_000),
        ("/" + "a" * 600, b""),
        ("/api/run/decode", b"run=good&z=" + b"1," * 5_000 + b"1"),
    ],
)
def test_what_is_too_long_is_refused(ask, path, query):
    refused(ask(path, query), 413)


def test_a_body_is_refused(ask):
    refused(ask("/api/index", headers=[(b"host", HOST), (b"content-length", b"5")]), 413)
    refused(ask("/api/index", headers=[(b"host", HOST), (b"transfer-encoding", b"chunked")]), 413)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        *(("/api/run/decode", f"run=good&z={z}") for z in ("1,2", "1,2,3,x", "nan,0,0,0", "1e999,0,0,0", "1e7,0,0,0")),
        *(("/api/run/decode", f"run=good&z={z}") for z in (",,,", "0,0,0,0,0", "0;0;0;0", "[0,0,0,0]")),
        ("/api/run/decode", "run=good&z=0,0,0,0&z=1,1,1,1"),
        ("/api/run", "run=good&run=good"),
        ("/api/run", ""),
        *(
            ("/api/run/traversal", f"run=good&latent={latent}")
            for latent in ("4", "-1", "1.5", "x", "", "1e1", "9" * 99)
        ),
        *(("/api/run/traversal", f"run=good&latent=0&steps={steps}") for steps in ("0", "-3", "65", "1000000000")),
        ("/api/run/traversal", "run=good&latent=0&low=nan"),
        *(("/api/run/image", f"run=good&image={image}") for image in ("-1", "99999999", "1.0")),
        ("/api/run/code", "run=good&image=99999999"),
        ("/api/run/reconstructions", "run=good&n=100000"),
        *(
            (f"/api/run/{what}", f"run=good&latent=0&image=0&scale={scale}")
            for what in ("decode", "image", "traversal", "traversals", "animation", "reconstructions")
            for scale in ("0", "9", "-1", "1e3", "50", "1_0")
        ),
        *((f"/api/data/{what}", "run=good&factor=shape&scale=9") for what in ("traversal", "samples")),
        *((path, f"run=good&step={step}") for path in ("/api/run", "/api/run/decode") for step in ("-1", "-5", "1_0")),
        *(("/api/run/decode", f"run=good&z={z},0,0,0") for z in ("1_0", "٣", "0x1", "infinity", "--1")),
        ("/api/matrix", "run=good&kind=foo"),
        ("/api/scatter", "run=good&latent=9&factor=0"),
        ("/api/scatter", "run=good&latent=0&factor=99"),
    ],
)
def test_a_malformed_query_is_refused(ask, path, query):
    refused(ask(path, query.encode()), 400)


def test_another_kind_of_matrix_is_named(ask):
    assert "did you mean 'mi'" in refused(ask("/api/matrix", b"run=good&kind=m"), 400)


def test_a_number_that_is_too_small_is_told_what_is_large_enough(ask):
    assert refused(ask("/api/run/code", b"run=good&image=-1"), 400) == "'image' must be 0 or more, not -1"
    assert "'seed' must be 0 or more" in refused(ask("/api/data/samples", b"run=good&seed=-3"), 400)
    assert "'scale' must be from 1 to 8" in refused(ask("/api/run/traversals", b"run=good&scale=-1"), 400)


@pytest.mark.parametrize("path", ["/api/run/decode", "/api/run/curves", "/api/matrix", "/api/run"])
def test_a_snapshot_that_is_not_there_is_said_without_the_place_of_the_folder(ask, folder, path):
    _, _, body = ask(path, b"run=good&step=77")
    assert str(folder).encode() not in body
    if path in ("/api/matrix", "/api/run"):
        assert b"'good' has no snapshot of step 77" in body


TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["good", ".", *OUTSIDE]),
    st.lists(st.floats(allow_nan=True), max_size=6).map(lambda values: ",".join(map(str, values))),
    st.integers().map(str),
)
NAMES = (
    "run",
    "study",
    "z",
    "latent",
    "factor",
    "image",
    "steps",
    "kind",
    "left",
    "right",
    "points",
    "n",
    "seed",
    "scale",
)


@settings(max_examples=100)
@given(
    path=st.one_of(st.sampled_from(ROUTES), st.text(max_size=40).map(lambda text: "/" + quote(text))),
    query=st.lists(st.tuples(st.sampled_from(NAMES), TEXTS), max_size=5),
    raw=st.binary(max_size=20),
)
def test_no_request_breaks_it(ask, path, query, raw):
    words = "&".join(f"{name}={quote(value, safe='', errors='replace')}" for name, value in query).encode() + raw
    status, _, body = ask(path, words)
    assert status in STATUSES
    assert SECRET.encode() not in body
    if status != 200:
        assert b"Traceback" not in body
        assert set(json.loads(body)) == {"error"}


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(st.sampled_from([b"host", b"origin", b"sec-fetch-site", b"x"]), st.binary(max_size=30)), max_size=4
    )
)
def test_no_header_breaks_it(ask, headers):
    status, _, _ = ask("/api/index", headers=headers)
    ours = [value for name, value in headers if name == b"host"]
    assert status in (403, 200)
    if status == 200:
        assert len(ours) == 1
        assert ours[0].decode("latin-1").lower().rsplit(":", 1)[0].strip("[]") in (
            "127.0.0.1",
            "localhost",
            "::1",
            "[::1",
        )


def test_pipes_links_to_themselves_and_closed_folders_are_passed_over(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy", symlinks=True)
    (copy / "closed").mkdir(mode=0o000)
    os.mkfifo(copy / "pipe.npz")  # which would never end
    shutil.copytree(copy / "good", copy / "piped")
    (copy / "piped" / "status.json").unlink()
    os.mkfifo(copy / "piped" / "status.json")
    (copy / "circle").mkdir()
    (copy / "circle" / "config.json").symlink_to(copy / "circle" / "config.json")
    ask = Asked(create_app(Explorer(copy)))
    assert json.loads(ask("/api/table")[2])["rows"]["id"] == ["good"]


SLOW = """
import time
from starlette.responses import PlainTextResponse
from starlette.routing import Route, Router
from unweave.explorer.guard import Guard, Rules
from unweave.explorer.serve import address_of, listening, serve

def slow(request):
    print("begun", flush=True)
    time.sleep(float(request.query_params.get("seconds", 6)))
    return PlainTextResponse("late")

listener = listening("127.0.0.1", 0)
print(address_of(listener, "127.0.0.1"), flush=True)
try:
    serve(Guard(Router([Route("/slow", slow)]), Rules()), listener)
except KeyboardInterrupt:
    print("ended", flush=True)
"""


def test_ctrl_c_during_a_slow_request_is_quiet():
    def ask(url: str) -> tuple[int, bytes]:
        try:
            with urllib.request.urlopen(url, timeout=120) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SLOW], **pipes) as server, ThreadPoolExecutor(1) as pool:
        assert server.stdout is not None
        asked = pool.submit(ask, f"{server.stdout.readline().strip()}slow")
        assert server.stdout.readline() == "begun\n"
        server.send_signal(signal.SIGINT)
        status, body = asked.result()
        said, wrong = server.communicate(timeout=120)
    assert (status, json.loads(body)) == (503, {"error": "the server is shutting down"})
    assert (server.returncode, said, wrong) == (0, "ended\n", "")


@pytest.mark.parametrize("between", [0.3, 2.0])  # while answers are waited for, and while only the thread is
def test_a_second_ctrl_c_ends_it_while_a_thread_computes(between: float):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SLOW], **pipes) as server:
        assert server.stdout is not None
        place = urlsplit(server.stdout.readline().strip())
        with socket.create_connection((place.hostname or "", place.port or 0)) as asking:
            asking.sendall(b"GET /slow?seconds=60 HTTP/1.1\r\nHost: " + place.netloc.encode() + b"\r\n\r\n")
            assert server.stdout.readline() == "begun\n"
            server.send_signal(signal.SIGINT)
            time.sleep(between)
            assert server.poll() is None
            server.send_signal(signal.SIGINT)
            said, wrong = server.communicate(timeout=120)
    assert (server.returncode, wrong) == (0, "")
    assert said in ("", "ended\n")
