from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from unweave.data import DATASETS, load
from unweave.data.sources import SOURCES
from unweave.errors import UsageError

DRAWN = [name for name in DATASETS if name not in SOURCES]


def test_options_after_the_name_and_as_keywords_mean_the_same():
    assert load("xysquares:spacing=1,size=32").description == load("xysquares", spacing=1, size=32).description
    assert load("xysquares:spacing=1", size=32).description == load("xysquares", spacing=1, size=32).description
    assert load("xysquares:").description == load("xysquares").description


@pytest.mark.parametrize("name", [name for name in DRAWN if name != "rooms3d"])
def test_a_description_rebuilds_the_set(name: str):
    data = load(name, size=32)
    again = load(**json.loads(json.dumps(data.description)))
    assert type(again) is type(data)
    assert again.description == data.description
    assert again.shape == data.shape == (32, 32, data.shape[2])


def test_options_are_canonical():
    assert load("xysquares").options == {"spacing": 8, "size": 64}
    options = load("xysquares", spacing=np.int64(3)).options
    assert options == {"spacing": 3, "size": 64}
    assert type(options["spacing"]) is int


@pytest.mark.parametrize("name", DATASETS)
def test_the_table_has_each_set_under_its_own_name(name: str):
    assert DATASETS[name].name == name


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("xysqares", {}, "did you mean 'xysquares'"),
        ("", {}, "no data set is called ''"),
        (3, {}, "no data set is called '3'"),
        ("xysquares", {"spacng": 1}, "no option of xysquares is called 'spacng'; did you mean 'spacing'"),
        ("xyobject:spacing=1", {}, "no option of xyobject is called 'spacing'"),
        ("xysquares:spacing", {}, "'spacing' has no '='"),
        ("xysquares:spacing=1", {"spacing": 2}, "given twice"),
        ("xysquares:spacing=9", {}, "spacing must be one of 1, 2, 3, 4, 5, 6, 7, 8, not 9"),
        ("xysquares:spacing=wide", {}, "not 'wide'"),
        ("xysquares", {"spacing": "1"}, "not '1'"),
        ("xysquares", {"spacing": 1.0}, "not 1.0"),
        ("xysquares", {"spacing": True}, "not True"),
        *((name, {"size": 48}, "64, 128, not 48") for name in DRAWN),
        ("xysquares", {"size": 8}, "size must be one of 16, 32, 64, 128, not 8"),
    ],
)
def test_mistakes_get_one_clear_line(name: str, options: dict, message: str, tmp_path, monkeypatch):
    (tmp_path / "log.parquet").touch()  # whatever lies in the current folder, these names mean nothing
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message) as caught:
        load(name, **options)
    assert "\n" not in str(caught.value)


def test_data_needs_no_torch():
    code = "import sys, unweave.data; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_run_is_no_data_set_and_the_answer_says_what_opens_it(tmp_path):
    for name in ("config.json", "status.json", "log.parquet"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(UsageError, match=r"is a run, not a data set: open it with unweave\.Run\.open\("):
        load(str(tmp_path))
