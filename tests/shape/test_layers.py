"""The shape of the tree: imports point down, nothing goes in circles, no file is too long."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import goldsmith

SOURCE = Path(goldsmith.__file__).parent

#: From the doors down, as DESIGN.md has it; a package uses the lines below its own only.
LAYERS: tuple[frozenset[str], ...] = (
    frozenset(("cli",)),
    frozenset(("api",)),
    frozenset(("service",)),
    frozenset(("temporal", "airflow", "generators", "demo")),
    frozenset(("worker",)),
    frozenset(("runtime",)),
    frozenset(("engine", "collectors", "emitters", "gateway")),
    frozenset(("scheduling", "healing", "advice")),
    frozenset(("planning",)),
    frozenset(("checks", "contracts", "lakehouse", "lineage", "digest", "metrics", "assets")),
    frozenset(("journal",)),
    frozenset(("storage",)),
    frozenset(("catalog",)),
    frozenset(("setup", "http_client")),
    frozenset(("settings", "credentials", "logs")),
    frozenset(("registry",)),
    frozenset(("errors",)),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
#: A file that outgrows this has usually found its second noun.
LONGEST = 400
NO_NAMES = frozenset(("utils", "util", "common", "core", "helpers", "base", "misc"))


def module_of(file: Path) -> str:
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(file): file for file in sorted(SOURCE.rglob("*.py"))}
TREES = {module: ast.parse(file.read_text("utf-8"), str(file)) for module, file in FILES.items()}


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules of ours an import names, wherever in the tree it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in FILES else node.module


def ours(tree: ast.AST) -> set[str]:
    return {name for name in imported(tree) if name in FILES}


def package_of(module: str) -> str:
    """The package or single module right under `goldsmith`."""
    return module.split(".")[1] if "." in module else ""


def test_every_package_has_its_place_in_the_layers() -> None:
    assert sorted({package_of(module) for module in FILES} - LEVEL.keys() - {""}) == []


def test_no_name_stands_in_two_layers() -> None:
    assert len(LEVEL) == sum(len(names) for names in LAYERS)


def test_imports_point_down_those_inside_functions_and_for_types_included() -> None:
    wrong = [
        f"{module} imports {other}"
        for module, tree in TREES.items()
        for other in sorted(ours(tree))
        if (mine := package_of(module))
        and (theirs := package_of(other))
        and mine != theirs
        and LEVEL[theirs] <= LEVEL[mine]
    ]
    assert wrong == []


def at_import_time(tree: ast.Module) -> set[str]:
    """What a module imports when it is imported itself: not in functions, not only for types."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= ours(node)
        waiting += ast.iter_child_nodes(node)
    return found


def test_no_module_imports_itself_by_a_detour() -> None:
    imports = {module: at_import_time(tree) for module, tree in TREES.items()}
    done: set[str] = set()

    def circle(module: str, trail: tuple[str, ...]) -> tuple[str, ...] | None:
        if module in trail:
            return (*trail[trail.index(module) :], module)
        if module in done:
            return None
        for other in sorted(imports[module] - {module}):
            if found := circle(other, (*trail, module)):
                return found
        done.add(module)
        return None

    circles = [found for module in imports if (found := circle(module, ()))]
    assert [" → ".join(found) for found in circles] == []


def test_nothing_is_named_for_being_of_use_somewhere() -> None:
    assert [module for module in FILES if NO_NAMES.intersection(module.split("."))] == []


def test_no_file_is_longer_than_one_noun() -> None:
    lines = {file: len(file.read_text("utf-8").splitlines()) for file in FILES.values()}
    long = [f"{f.relative_to(SOURCE)}: {n} lines" for f, n in lines.items() if n > LONGEST]
    assert long == []


def test_init_files_hold_nothing_but_their_docstring() -> None:
    full = [
        module
        for module, file in FILES.items()
        if file.name == "__init__.py" and not _only_a_docstring(TREES[module])
    ]
    assert full == []


def _only_a_docstring(tree: ast.Module) -> bool:
    return len(tree.body) == 1 and ast.get_docstring(tree) is not None


def test_every_module_says_why_it_exists() -> None:
    assert [module for module, tree in TREES.items() if not ast.get_docstring(tree)] == []


def folder_of(module: str) -> str:
    """The subfolder of a package that a module is in; empty for a module right in a package."""
    folders = FILES[module].relative_to(SOURCE).parts[:-1]
    return ".".join(folders[:2]) if len(folders) > 1 else ""


def test_no_subfolder_of_a_package_imports_another_by_a_detour() -> None:
    imports: dict[str, set[str]] = {}
    for module, tree in TREES.items():
        if mine := folder_of(module):
            others = {
                folder_of(other) for other in ours(tree) if package_of(other) == package_of(module)
            }
            imports.setdefault(mine, set()).update(others - {"", mine})
    left = dict(imports)
    while free := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in free:
            del left[name]
    assert {name: sorted(needs & left.keys()) for name, needs in left.items()} == {}


def test_checks_are_measured_with_arrow_through_one_door() -> None:
    arrow = "goldsmith.checks.arrow"
    found = {
        (module, other)
        for module, tree in TREES.items()
        for other in ours(tree)
        if other.startswith(arrow) and not module.startswith(arrow)
    }
    assert found == {("goldsmith.checks.evaluate", f"{arrow}.measure")}


#: A module shorter than this has to hold something of its own.
SHORTEST = 15


def test_no_short_file_only_forwards() -> None:
    forwarding = [
        module
        for module, file in FILES.items()
        if file.name != "__init__.py"
        and len(file.read_text("utf-8").splitlines()) < SHORTEST
        and all(_forwards(node) for node in TREES[module].body)
    ]
    assert forwarding == []


def _forwards(node: ast.stmt) -> bool:
    """An import, a docstring or an assignment of an imported name."""
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Name | ast.Attribute)
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_docstring or isinstance(node, ast.Import | ast.ImportFrom)
