"""The settings as given in variables and goldsmith.toml: values, origins, problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any

from goldsmith.errors import nearest
from goldsmith.settings.project import FILE_NAME, ProjectFile
from goldsmith.settings.sections import SECTIONS, SettingKind, specs
from goldsmith.settings.values import of_toml, of_variable

PREFIX = "GOLDSMITH_"
#: Tables that contain only sections.
_HOLDERS = frozenset(("warehouses",))

#: Gives the origin of a setting (""), or of one key of it if it is a table.
Position = Callable[[str], str]


class Rank(IntEnum):
    """Precedence of the sources of a setting: the lowest rank wins."""

    VARIABLE = 0
    ENVIRONMENT = 1
    PROJECT = 2


@dataclass(frozen=True, kw_only=True)
class RawSetting:
    """One value and its origin."""

    value: Any
    origin: str
    rank: Rank


@dataclass(frozen=True, kw_only=True)
class RawSettings:
    """All given settings: values by name, entries of free tables by name and key."""

    values: dict[str, RawSetting] = field(default_factory=dict)
    entries: dict[str, dict[str, RawSetting]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    #: Settings whose value is invalid.
    refused: set[str] = field(default_factory=set)

    def value(self, name: str) -> Any:
        """The given value of a setting; None if there is none."""
        return self.values[name].value if name in self.values else None

    def refuse(self, name: str, problem: str) -> None:
        self.refused.add(name)
        self.problems.append(problem)

    def add(self, name: str, value: Any, position: Position, rank: Rank) -> None:
        """Store a value, unless one of higher precedence is stored."""
        if specs()[name].kind is SettingKind.TABLE:
            entries = self.entries.setdefault(name, {})
            for key, text in value.items():
                _keep(entries, key, RawSetting(value=text, origin=position(key), rank=rank))
        else:
            _keep(self.values, name, RawSetting(value=value, origin=position(""), rank=rank))


def _keep(settings: dict[str, RawSetting], name: str, setting: RawSetting) -> None:
    if name not in settings or setting.rank < settings[name].rank:
        settings[name] = setting


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper().replace(".", "__")


def read_raw_settings(
    environ: Mapping[str, str], file: ProjectFile, environment: str
) -> RawSettings:
    """Read the settings of the variables, the environment's tables and the project's tables."""
    settings = RawSettings()
    for name, text in _variables(environ, settings.problems):
        _add(settings, name, text, partial(_in_variable, name), Rank.VARIABLE, file.folder)
    tables = dict(file.table)
    environments = _environments(tables.pop("environments", {}), file, settings.problems)
    if not isinstance(tables.pop("default_environment", ""), str):
        position = file.position("default_environment")
        settings.problems.append(f"{position}: 'default_environment' must be text in quotes.")
    _tables(settings, file, tables, "", Rank.PROJECT)
    for name, table in environments.items():
        # Every environment is checked, so that a laptop finds problems of production.
        into = settings if name == environment else RawSettings(problems=settings.problems)
        _tables(into, file, table, f"environments.{name}.", Rank.ENVIRONMENT)
    return settings


def _variables(environ: Mapping[str, str], problems: list[str]) -> Iterator[tuple[str, str]]:
    known = specs()
    # GOLDSMITH_CATALOG_URL is a likely mistake that would otherwise be ignored silently.
    alike = {variable(name).replace("__", "_"): variable(name) for name in known}
    for key, text in sorted(environ.items()):
        if not key.startswith(PREFIX) or not text:
            continue
        name = key.removeprefix(PREFIX).lower().replace("__", ".")
        if name in known and key == variable(name):
            yield name, text
        elif key.upper().replace("__", "_") in alike:
            meant = alike[key.upper().replace("__", "_")]
            problems.append(f"${key} is not a setting; did you mean ${meant}?")
        elif "__" in key:
            # Variables without `__` belong to other parts: GOLDSMITH_PROJECT, GOLDSMITH_CACHE.
            problems.append(f"${key} is not a setting{_meant(name, _in_variable)}")


def _environments(
    tables: object, file: ProjectFile, problems: list[str]
) -> dict[str, Mapping[str, object]]:
    good: dict[str, Mapping[str, object]] = {}
    if not isinstance(tables, Mapping):
        position = file.position("environments")
        problems.append(f"{position}: 'environments' must hold tables: [environments.prod].")
        return good
    for name, table in tables.items():
        if isinstance(table, Mapping):
            good[name] = table
        else:
            position = file.position(f"environments.{name}")
            problems.append(f"{position}: 'environments.{name}' must be a table.")
    return good


def _tables(
    settings: RawSettings,
    file: ProjectFile,
    table: Mapping[str, object],
    under: str,
    rank: Rank,
    section: str = "",
) -> None:
    """Read one table of the file and the tables in it."""
    free = _free_entries(section)
    for key, value in table.items():
        name = f"{section}.{key}".lstrip(".")
        position = file.position(under + name)
        if name in specs():
            _add(settings, name, value, partial(_in_file, file, under + name), rank, file.folder)
        elif free is not None and key.startswith(free[1]):
            at = partial(_in_file, file, under + section)
            _add(settings, free[0], {key: value}, at, rank, file.folder)
        elif name not in SECTIONS and name not in _HOLDERS:
            settings.problems.append(f"{position}: '{name}' is not a setting{_meant(name)}")
        elif isinstance(value, Mapping):
            _tables(settings, file, value, under, rank, name)
        else:
            settings.problems.append(f"{position}: '{name}' must be a table: [{name}].")


def _free_entries(section: str) -> tuple[str, str] | None:
    """The setting that a section's free keys belong to, and the prefix of those keys."""
    for name, spec in specs().items():
        if spec.begins and name.rpartition(".")[0] == section:
            return name, spec.begins
    return None


def _in_variable(name: str, key: str = "") -> str:
    return f"${variable(name)}"


def _in_file(file: ProjectFile, name: str, key: str = "") -> str:
    return file.position(f"{name}.{key}" if key else name)


def _add(
    settings: RawSettings, name: str, raw: Any, position: Position, rank: Rank, project: Path
) -> None:
    convert = of_variable if rank is Rank.VARIABLE else of_toml
    try:
        value = convert(raw, specs()[name], project)
    except ValueError as problem:
        end = "" if str(problem).endswith("?") else "."
        settings.refuse(name, f"{position('')}: '{name}' {problem}{end}")
    else:
        settings.add(name, value, position, rank)


def _meant(name: str, spell: Callable[[str], str] = repr) -> str:
    """`; did you mean 'catalog.url'?`: the nearest name, by its last part or as a whole."""
    leaf = name.rpartition(".")[2]
    same_leaf = [known for known in specs() if known.rpartition(".")[2] == leaf]
    guess = nearest(name, same_leaf) or (same_leaf[0] if len(same_leaf) == 1 else None)
    guess = guess or nearest(name, [*specs(), *SECTIONS, *_HOLDERS])
    return f"; did you mean {spell(guess)}?" if guess else "."


def looked_in(name: str, environment: str) -> str:
    """A sentence on where a missing setting can be given."""
    return (
        f"The setting '{name}' has no value. Looked in: ${variable(name)}; "
        f"'{name}' in [environments.{environment}] and at the top of {FILE_NAME}"
    )
