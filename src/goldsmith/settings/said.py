"""What was said: every setting somebody wrote, where, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any

from goldsmith.errors import nearest
from goldsmith.settings.project import FILE_NAME, ProjectFile
from goldsmith.settings.sections import SECTIONS, Kind, specs
from goldsmith.settings.values import of_toml, of_variable

PREFIX = "GOLDSMITH_"
#: Tables that hold sections; nothing else stands directly in them.
_HOLDERS = frozenset(("warehouses",))

#: Where a setting was said, and where each key of it if it is a table.
Place = Callable[[str], str]


class Rank(IntEnum):
    """Who is heard first when several say a setting."""

    VARIABLE = 0
    ENVIRONMENT = 1
    PROJECT = 2


@dataclass(frozen=True, kw_only=True)
class Said:
    """One value, and where it was said."""

    value: Any
    origin: str
    rank: Rank


@dataclass(frozen=True, kw_only=True)
class Everything:
    """All that was said: settings by name, entries of free tables by name and key."""

    values: dict[str, Said] = field(default_factory=dict)
    entries: dict[str, dict[str, Said]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    #: Settings that were said and cannot be used.
    refused: set[str] = field(default_factory=set)

    def value(self, name: str) -> Any:
        """What was said of a setting, None if nothing was."""
        return self.values[name].value if name in self.values else None

    def refuse(self, name: str, problem: str) -> None:
        self.refused.add(name)
        self.problems.append(problem)

    def hear(self, name: str, value: Any, place: Place, rank: Rank) -> None:
        """Keep a value, unless somebody with more right said one."""
        if specs()[name].kind is Kind.TABLE:
            kept = self.entries.setdefault(name, {})
            for key, text in value.items():
                _keep(kept, key, Said(value=text, origin=place(key), rank=rank))
        else:
            _keep(self.values, name, Said(value=value, origin=place(""), rank=rank))


def _keep(kept: dict[str, Said], name: str, said: Said) -> None:
    if name not in kept or said.rank < kept[name].rank:
        kept[name] = said


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper().replace(".", "__")


def listen(environ: Mapping[str, str], file: ProjectFile, environment: str) -> Everything:
    """All that the variables, the environment's tables and the project's tables say."""
    said = Everything()
    for name, text in _variables(environ, said.problems):
        _hear(said, name, text, partial(_in_variable, name), Rank.VARIABLE, file.folder)
    tables = dict(file.table)
    environments = _environments(tables.pop("environments", {}), file, said.problems)
    if not isinstance(tables.pop("default_environment", ""), str):
        place = file.place("default_environment")
        said.problems.append(f"{place}: 'default_environment' must be text in quotes.")
    _tables(said, file, tables, "", Rank.PROJECT)
    for name, table in environments.items():
        # Every environment is checked, so that a laptop finds what would stop production.
        into = said if name == environment else Everything(problems=said.problems)
        _tables(into, file, table, f"environments.{name}.", Rank.ENVIRONMENT)
    return said


def _variables(environ: Mapping[str, str], problems: list[str]) -> Iterator[tuple[str, str]]:
    known = specs()
    # GOLDSMITH_CATALOG_URL is a slip that would otherwise be ignored in silence.
    alike = {variable(name).replace("__", "_"): variable(name) for name in known}
    for word, text in sorted(environ.items()):
        if not word.startswith(PREFIX) or not text:
            continue
        name = word.removeprefix(PREFIX).lower().replace("__", ".")
        if name in known and word == variable(name):
            yield name, text
        elif word.upper().replace("__", "_") in alike:
            meant = alike[word.upper().replace("__", "_")]
            problems.append(f"${word} is not a setting; did you mean ${meant}?")
        elif "__" in word:
            # Variables without `__` belong to other parts: GOLDSMITH_PROJECT, GOLDSMITH_CACHE.
            problems.append(f"${word} is not a setting{_meant(name, _in_variable)}")


def _environments(
    tables: object, file: ProjectFile, problems: list[str]
) -> dict[str, Mapping[str, object]]:
    good: dict[str, Mapping[str, object]] = {}
    if not isinstance(tables, Mapping):
        place = file.place("environments")
        problems.append(f"{place}: 'environments' must hold tables: [environments.prod].")
        return good
    for name, table in tables.items():
        if isinstance(table, Mapping):
            good[name] = table
        else:
            place = file.place(f"environments.{name}")
            problems.append(f"{place}: 'environments.{name}' must be a table.")
    return good


def _tables(
    said: Everything,
    file: ProjectFile,
    table: Mapping[str, object],
    under: str,
    rank: Rank,
    section: str = "",
) -> None:
    """Hear one table of the file, and the tables in it."""
    free = _free_entries(section)
    for key, value in table.items():
        name = f"{section}.{key}".lstrip(".")
        place = file.place(under + name)
        if name in specs():
            _hear(said, name, value, partial(_in_file, file, under + name), rank, file.folder)
        elif free is not None and key.startswith(free[1]):
            at = partial(_in_file, file, under + section)
            _hear(said, free[0], {key: value}, at, rank, file.folder)
        elif name not in SECTIONS and name not in _HOLDERS:
            said.problems.append(f"{place}: '{name}' is not a setting{_meant(name)}")
        elif isinstance(value, Mapping):
            _tables(said, file, value, under, rank, name)
        else:
            said.problems.append(f"{place}: '{name}' must be a table: [{name}].")


def _free_entries(section: str) -> tuple[str, str] | None:
    """The setting that a section's free keys belong to, and how those keys begin."""
    for name, spec in specs().items():
        if spec.begins and name.rpartition(".")[0] == section:
            return name, spec.begins
    return None


def _in_variable(name: str, key: str = "") -> str:
    return f"${variable(name)}"


def _in_file(file: ProjectFile, name: str, key: str = "") -> str:
    return file.place(f"{name}.{key}" if key else name)


def _hear(said: Everything, name: str, raw: Any, place: Place, rank: Rank, project: Path) -> None:
    convert = of_variable if rank is Rank.VARIABLE else of_toml
    try:
        value = convert(raw, specs()[name], project)
    except ValueError as problem:
        end = "" if str(problem).endswith("?") else "."
        said.refuse(name, f"{place('')}: '{name}' {problem}{end}")
    else:
        said.hear(name, value, place, rank)


def _meant(name: str, spell: Callable[[str], str] = repr) -> str:
    """`; did you mean 'catalog.url'?`: the nearest known name, by its last word or as a whole."""
    leaf = name.rpartition(".")[2]
    same_leaf = [known for known in specs() if known.rpartition(".")[2] == leaf]
    guess = nearest(name, same_leaf) or (same_leaf[0] if len(same_leaf) == 1 else None)
    guess = guess or nearest(name, [*specs(), *SECTIONS, *_HOLDERS])
    return f"; did you mean {spell(guess)}?" if guess else "."


def looked_in(name: str, environment: str) -> str:
    """Where a setting without a value was looked for."""
    return (
        f"The setting '{name}' has no value. Looked in: ${variable(name)}; "
        f"'{name}' in [environments.{environment}] and at the top of {FILE_NAME}"
    )
