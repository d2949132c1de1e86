"""Methods, nets, metrics and data sets of users: defined, loaded, recorded, and what goes wrong in one line."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from torch import nn

import unweave
from unweave import plugins
from unweave.errors import UsageError
from unweave.methods import BetaVAE, Method, method_name, method_of, with_defaults
from unweave.origins import ChangedPlugin
from unweave.runs import Run

TINY: dict[str, Any] = {"data": "xysquares:size=32", "net": "mlp", "width": 0.02, "batch": 8}
METHOD = '''
from dataclasses import dataclass
from unweave.methods import Method, Scheduled, value_at

@dataclass(frozen=True)
class PowerVAE(Method):
    """Power VAE."""
    beta: Scheduled = 1.0
    """Weight."""
    power: float = 2.0

    def penalty(self, model, q, z, step):
        return {"kl": value_at(self.beta, step) * q.kl().sum(1).pow(self.power).mean()}
'''


def forget() -> None:
    """Forget all that users defined, as a new process does."""
    for kind in plugins.KINDS:
        kind.own.clear()
    for name in [name for name in sys.modules if name.startswith(plugins.FILE)]:
        del sys.modules[name]
    plugins.load_packages.cache_clear()


@pytest.fixture(autouse=True)
def _nothing_defined() -> Iterator[None]:
    before = [(kind, dict(kind.own)) for kind in plugins.KINDS]
    forget()
    yield
    forget()
    for kind, own in before:
        kind.own.update(own)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    file = tmp_path / "power.py"
    file.write_text(METHOD)
    return file


def test_a_method_works_by_being_defined(tmp_path):
    @dataclass(frozen=True)
    class MyVAE(BetaVAE):
        """Mine."""

        gamma: float = 1.0

    run = unweave.train(MyVAE(beta=2, gamma=3), steps=3, out=tmp_path / "run", **TINY)
    assert run.config["method"] == {"name": "my-vae", "beta": 2.0, "normalise_beta": False, "gamma": 3.0, "loss": "bce"}
    assert Run.open(tmp_path / "run").settings.method == MyVAE(beta=2, gamma=3, loss="bce")
    assert with_defaults("my-vae") == MyVAE()
    assert run.origins["method"]["file"].endswith("test_plugins.py")


def test_a_class_attribute_names_a_method_and_the_last_definition_counts():
    class First(BetaVAE):
        name = "second-vae"

    assert method_of("second-vae") is First
    assert method_name(First()) == "second-vae"

    class Second(First):
        name = "second-vae"

    assert method_of("second-vae") is Second

    class Third(Second):
        pass

    assert method_name(Third()) == "third"


def test_a_name_of_unweave_s_own_is_refused():
    with pytest.raises(UsageError, match="unweave already has a method called 'beta-vae': give yours another name"):
        type("BetaVAE", (Method,), {})
    with pytest.raises(UsageError, match="a method cannot be called 'my_vae'"):
        type("Mine", (BetaVAE,), {"name": "my_vae"})
    with pytest.raises(UsageError, match="unweave already has a net called 'conv'"):
        unweave.nets.register("conv")(lambda shape, latents, width: (nn.Flatten(), nn.Flatten()))
    with pytest.raises(UsageError, match="unweave already has a data set called 'shapes2d'"):
        type("Mine", (unweave.data.Dataset,), {"name": "shapes2d"})


def test_a_class_that_cannot_be_recorded_is_refused(tmp_path):
    class Bare(BetaVAE):
        gamma: float = 1.0

    with pytest.raises(UsageError, match=r"Bare has a field gamma: write @dataclass\(frozen=True\) above the class"):
        unweave.train(Bare(), steps=1, out=tmp_path / "run", **TINY)

    @dataclass(frozen=True)
    class Listed(BetaVAE):
        sizes: tuple[int, ...] = (1, 2)

    with pytest.raises(UsageError, match=r"Listed\.sizes must be a number, a string, a boolean or a schedule"):
        unweave.train(Listed(), steps=1, out=tmp_path / "run", **TINY)
    assert not (tmp_path / "run").exists()

    @dataclass(frozen=True)
    class Needy(Method):
        gamma: float

        def penalty(self, model, q, z, step):
            return {}

    with pytest.raises(UsageError, match=r"Needy\.gamma needs a default"):
        with_defaults("needy")


def test_a_plugin_is_loaded_once_and_says_what_it_defines(plugin):
    assert plugins.load(plugin) == {"method": ["power-vae"]}
    kind = method_of("power-vae")
    assert plugins.load(str(plugin)) == {"method": ["power-vae"]}
    assert method_of("power-vae") is kind


def test_a_plugin_finds_the_modules_beside_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "beside_the_plugin.py").write_text("POWER = 3.0\n")
    code = METHOD.replace("= 2.0", "= POWER").replace("@data", "from beside_the_plugin import POWER\n\n@data")
    (tmp_path / "plugin.py").write_text(code)
    plugins.load(tmp_path / "plugin.py")
    assert with_defaults("power-vae").power == 3.0  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import numpy\n\nx = 1 / 0\n", r"bad\.py', line 3: ZeroDivisionError: division by zero"),
        ("def f(:\n", r"bad\.py', line 1: SyntaxError: "),
        ("import no_such_module\n", r"bad\.py', line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("x = 1\n", r"bad\.py' defines no method, net, metric or data set"),
        ("import sys\nsys.exit(3)\n", r"bad\.py', line 2: SystemExit: 3"),
        (METHOD.replace("PowerVAE", "BetaVAE"), r"bad\.py', line \d+: unweave already has a method called 'beta-vae'"),
        (METHOD.replace("frozen=True", ""), r"bad\.py', line 5: TypeError: cannot inherit non-frozen dataclass"),
    ],
)
def test_what_is_wrong_with_a_plugin_is_one_line(tmp_path, code, message):
    (tmp_path / "bad.py").write_text(code)
    with pytest.raises(UsageError, match=message) as caught:
        plugins.load(tmp_path / "bad.py")
    assert "\n" not in str(caught.value)


def test_a_plugin_that_is_not_there(tmp_path):
    for name in (tmp_path / "none.py", tmp_path, "no_such_module", "no.such.module", "a b"):
        with pytest.raises(UsageError, match=f"there is no plugin '{name}'"):
            plugins.load(name)


def test_a_run_opens_with_its_plugin_and_names_it_without(plugin, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plugins.load(plugin)
    unweave.train("power-vae", steps=3, out="runs/power", **TINY)
    recorded = json.loads(Path("runs/power/config.json").read_text())["origins"]
    assert recorded["method"]["name"] == "PowerVAE"
    assert recorded["method"]["file"] == "../../power.py"
    forget()
    with pytest.raises(UsageError, match=r"its method is PowerVAE in 'power\.py': give --plugin power\.py"):
        Run.open("runs/power")
    plugins.load("power.py")
    assert Run.open("runs/power").plugins == ["power.py"]
    plugin.write_text(METHOD + "# more\n")
    with pytest.warns(ChangedPlugin, match=r"'power\.py' has changed since 'runs/power' was started with it"):
        Run.open("runs/power")


def test_a_run_of_a_changed_plugin_keeps_its_identity(plugin, tmp_path):
    plugins.load(plugin)
    run = unweave.train("power-vae", steps=3, out=tmp_path / "a", **TINY)
    plugin.write_text(METHOD + "# more\n")
    again = unweave.train("power-vae", steps=3, out=tmp_path / "b", **TINY)
    assert run.id == again.id
    assert run.origins["method"]["sha256"] != again.origins["method"]["sha256"]


def test_the_plugins_of_packages_are_imported_when_a_name_is_not_found(plugin, monkeypatch):
    monkeypatch.syspath_prepend(plugin.parent)
    entry = metadata.EntryPoint("power", "power", plugins.GROUP)
    broken = metadata.EntryPoint("broken", "no_such_module", plugins.GROUP)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [broken, entry] if group == plugins.GROUP else [])
    with warnings.catch_warnings(action="error"):
        assert method_of("beta-vae") is BetaVAE
    with pytest.warns(UserWarning, match="there is no plugin 'no_such_module'"):
        assert method_of("power-vae").__module__ == "power"
    monkeypatch.delitem(sys.modules, "power")


def test_help_looks_for_no_package():
    code = "import sys, unweave.plugins as p; p.entry_points = None; from unweave.cli import main; main(['--help'])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout


def test_another_process_is_told_the_plugins_that_still_define_something(plugin, tmp_path, monkeypatch):
    other = tmp_path / "other.py"
    other.write_text("from shared_by_plugins import SharedVAE as Mine\n")
    (tmp_path / "shared_by_plugins.py").write_text(METHOD.replace("PowerVAE", "SharedVAE"))
    (tmp_path / "own_module.py").write_text(METHOD.replace("PowerVAE", "ModuleVAE"))
    monkeypatch.syspath_prepend(str(tmp_path))
    before = plugins.loaded()
    plugins.load(plugin)
    forget()
    assert plugins.loaded() == before  # a name that is not known any more needs no plugin
    monkeypatch.chdir(tmp_path)
    for name in ("other.py", "own_module"):
        plugins.load(name)
    assert plugins.loaded() == (*before, str(other), "own_module")
