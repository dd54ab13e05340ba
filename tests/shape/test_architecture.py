"""The maps of the tree are true: every path they name exists, and every package is named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import goldsmith
from shape.test_layers import LAYERS

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(goldsmith.__file__).parent
ARCHITECTURE = ROOT / "docs" / "architecture.md"
MAPS = {
    "docs/architecture.md": ARCHITECTURE.read_text("utf-8"),
    "CONTRIBUTING.md": (ROOT / "CONTRIBUTING.md").read_text("utf-8"),
    "src/goldsmith/__init__.py": str(goldsmith.__doc__),
}

_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
#: A path in one word: `engine/stage.py`, `tests/cases`, `catalog/<noun>.py`.
_PATH = re.compile(r"[\w.-]*(?:/[\w.<>-]+)+/?|[\w-]+\.(?:py|md|toml|lock)")
_MODULE = re.compile(r"goldsmith(?:\.\w+)+")
#: A line of the map in `goldsmith/__init__.py`: names, two spaces or more, a description.
_LAYER = re.compile(r"^    ([a-z_]+(?:  ?[a-z_]+)*)(?:  +\S.*)?$", re.MULTILINE)


def paths_in(text: str) -> Iterator[str]:
    """Every path and module that a text names in code marks, outside of code blocks."""
    for code in _CODE.findall(_FENCE.sub("", text)):
        if _MODULE.fullmatch(code):
            yield code.replace(".", "/").removeprefix("goldsmith/")
        elif _PATH.fullmatch(code) and not code.startswith("/"):
            yield code


def exists(path: str) -> bool:
    """A file or folder has this path, from the root or from `src/goldsmith`; `<noun>` is any."""
    pattern = re.sub(r"<\w+>", "[a-z0-9]*", path.rstrip("/"))
    return any(
        next(folder.glob(pattern + ending), None) is not None
        for folder in (ROOT, SOURCE)
        for ending in ("", ".py")
    )


@pytest.mark.parametrize("name", MAPS)
def test_every_path_on_a_map_exists(name: str) -> None:
    named = set(paths_in(MAPS[name]))
    assert named
    assert sorted(path for path in named if not exists(path)) == []


def test_every_package_is_in_the_diagram() -> None:
    assert sorted(name for name in top_level() if f"<b>{name}</b>" not in ARCHITECTURE_TEXT) == []


def test_the_diagram_has_no_package_that_is_gone() -> None:
    assert sorted(set(re.findall(r"<b>(\w+)</b>", ARCHITECTURE_TEXT)) - top_level()) == []


def test_every_folder_of_the_engine_is_described() -> None:
    missing = [name for name in folders(SOURCE / "engine") if f"`engine/{name}`" not in ROWS]
    assert missing == []


def test_one_run_passes_at_most_35_files() -> None:
    """The second column of the walk names the file of each row; others are seen on the way."""
    walk = ARCHITECTURE_TEXT.split("## One `goldsmith run`, file by file")[1]
    files = {line.split("|")[2].strip() for line in walk.splitlines() if line.startswith("| ")}
    files = {file for file in files if file.endswith(".py`")}
    assert 20 < len(files) <= 35


def test_the_map_of_the_package_has_the_layers_in_their_order() -> None:
    """The map in `goldsmith/__init__.py` is the layers that imports are held to, as they exist."""
    shown = [frozenset(line.split()) for line in _LAYER.findall(MAPS["src/goldsmith/__init__.py"])]
    built = [layer & top_level() for layer in LAYERS]
    assert shown == [layer for layer in built if layer]


def test_a_path_that_does_not_exist_is_seen() -> None:
    text = "`engine/nowhere.py`, `goldsmith.engine.nowhere`, `cli/<noun>.py`, `make test`"
    assert [path for path in paths_in(text) if not exists(path)] == [
        "engine/nowhere.py",
        "engine/nowhere",
    ]


def folders(parent: Path) -> set[str]:
    """The packages directly in a folder."""
    return {file.parent.name for file in parent.glob("*/__init__.py")}


def top_level() -> set[str]:
    """The packages and modules directly under `goldsmith`."""
    return folders(SOURCE) | {file.stem for file in SOURCE.glob("[a-z]*.py")}


ARCHITECTURE_TEXT = MAPS["docs/architecture.md"]
ROWS = "\n".join(line for line in ARCHITECTURE_TEXT.splitlines() if line.startswith("|"))
