"""What is public is listed, documented and importable; and the arrow between packages holds."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import oracle_dp
import oracles

PUBLIC = (
    *("oracles", "oracles.convex", "oracles.monotone", "oracles.zero_one"),
    *("oracle_dp", "oracle_dp.accounting", "oracle_dp.audit", "oracle_dp.datasets"),
    *("oracle_dp.noise", "oracle_dp.problems", "oracle_dp.sources", "oracle_dp.variational"),
)
ROOTS = {package.__name__: Path(str(package.__file__)).parent for package in (oracles, oracle_dp)}
FILES = [(name, path) for name, root in ROOTS.items() for path in sorted(root.rglob("*.py"))]


def module_name(package: str, path: Path) -> str:
    parts = path.relative_to(ROOTS[package]).with_suffix("").parts
    return ".".join([package, *(part for part in parts if part != "__init__")])


MODULES = [module_name(package, path) for package, path in FILES]


def order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, each by name."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


# -- names -------------------------------------------------------------------------------------


@pytest.fixture(params=PUBLIC)
def module(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(request.param)


def test_all_is_sorted_and_resolves(module: ModuleType) -> None:
    names = list(module.__all__)
    assert names == sorted(set(names), key=order)
    for name in names:
        assert getattr(module, name) is not None
        assert not name.startswith("_")


def test_everything_public_is_documented(module: ModuleType) -> None:
    assert inspect.getdoc(module)
    for name in module.__all__:
        thing = getattr(module, name)
        if not (inspect.isclass(thing) or inspect.isroutine(thing)):
            continue
        own = thing.__doc__ or ""
        assert own.strip(), name
        # A dataclass without a docstring is given its signature as one.
        assert not own.startswith(f"{name}("), name
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith("_") and inspect.isroutine(value):
                assert inspect.getdoc(getattr(thing, member)), f"{name}.{member}"


def test_what_a_package_defines_or_imports_publicly_is_listed() -> None:
    for name in PUBLIC:
        module = importlib.import_module(name)
        listed = {
            key
            for key, value in vars(module).items()
            if not key.startswith("_")
            and (inspect.isclass(value) or inspect.isfunction(value))
            and value.__module__.startswith(name)
        }
        assert listed <= set(module.__all__), name


def test_unknown_names_are_refused_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="'oracle_dp' has no attribute 'Nothing'"):
        _ = oracle_dp.Nothing
    with pytest.raises(ImportError):
        exec("from oracle_dp import Nothing")


def test_a_star_import_gives_everything() -> None:
    space: dict[str, object] = {}
    exec("from oracle_dp import *", space)
    assert set(space) - {"__builtins__"} == set(oracle_dp.__all__)


def type_checking_imports() -> dict[str, str]:
    """Name to module, from the imports that type checkers see."""
    tree = ast.parse(Path(str(oracle_dp.__file__)).read_text(encoding="utf-8"))
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        found.update({alias.name: str(node.module) for alias in node.names if not alias.asname})
    return found


def test_the_lists_of_lazy_names_agree() -> None:
    homes = {name: f"oracle_dp.{home}" for name, home in oracle_dp._HOMES.items()}
    assert type_checking_imports() == homes
    assert sorted(homes) == sorted(oracle_dp.__all__)
    for name, home in homes.items():
        thing = getattr(oracle_dp, name)
        assert thing is getattr(importlib.import_module(home), name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            # Where it is defined, or a public module that names it as its own.
            listed = getattr(importlib.import_module(home), "__all__", ())
            assert thing.__module__ == home or name in listed


# -- imports -----------------------------------------------------------------------------------


def imported(path: Path) -> Iterator[str]:
    """Every absolute module name that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: a relative import"
            yield str(node.module)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # As import_module would be given it; a sentence has blanks.
            yield node.value if node.value.isidentifier() or "." in node.value else ""


@pytest.mark.parametrize(("package", "path"), FILES, ids=MODULES)
def test_the_arrow_between_the_packages(package: str, path: Path) -> None:
    heads = {name.split(".")[0] for name in imported(path) if " " not in name}
    forbidden = {"tests", "experiments", "benchmarks"}
    assert heads.isdisjoint(forbidden | ({"oracle_dp"} if package == "oracles" else set()))


def test_the_oracles_bring_no_privacy_along() -> None:
    program = (
        "import sys, importlib\n"
        f"for name in {[name for name in MODULES if name.split('.')[0] == 'oracles']!r}:\n"
        "    importlib.import_module(name)\n"
        "print(*{m.split('.')[0] for m in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "oracle_dp" not in done.stdout.split()


# Each module in a child of an interpreter that has imported none of ours. What takes long to
# import is there already.
FRESH = """
import contextlib, importlib, os, sys, traceback, warnings
import numpy, pandas, scipy.sparse, sklearn.base

with contextlib.suppress(ImportError):
    import numba

warnings.simplefilter("ignore")  # Newer Pythons warn of forks.
failed = []
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            warnings.simplefilter("error")
            importlib.import_module(name)
        except BaseException:  # Whatever a module raises is printed, and counts as failed.
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        failed.append(name)
print(*failed)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_every_module_imports_first() -> None:
    """No module leans on another having been imported before."""
    halves = MODULES[::2], MODULES[1::2]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", FRESH, *half],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for half in halves
    ]  # fmt: skip
    for process in running:
        out, err = process.communicate(timeout=120)
        assert out.split() == [], err
        assert process.returncode == 0, err
