"""The settings of one process: read once at the door, handed down, each with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldsmith.settings import project
from goldsmith.settings.defaults import Filled, fill, missing
from goldsmith.settings.errors import BadSettings, UnknownEnvironment
from goldsmith.settings.said import Everything, listen
from goldsmith.settings.sections import (
    SECTIONS,
    WAREHOUSES,
    CatalogSettings,
    Kind,
    LakeSettings,
    LambdasSettings,
    LogsSettings,
    SchemasSettings,
    SecretsSettings,
    SparkSettings,
    StagingSettings,
    StorageKind,
    StorageSettings,
    WarehouseSettings,
    specs,
)
from goldsmith.settings.values import absolute, without_password

if TYPE_CHECKING:
    from goldsmith.settings.addresses import Bindings

#: The environment that is there without a word.
EMBEDDED = "embedded"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One value, where it came from, and what it is for."""

    name: str
    value: Any
    origin: str
    doc: str
    kind: Kind

    @property
    def shown(self) -> str | None:
        """The value as text, without a password that an address may hold."""
        if self.value is None:
            return None
        if isinstance(self.value, bool):
            return str(self.value).lower()
        return without_password(str(self.value))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where everything is for one process in one environment."""

    project: Path
    environment: str
    name: str
    catalog: CatalogSettings
    storage: StorageSettings
    #: By the word of a target's type: redshift, postgres, duckdb.
    warehouses: Mapping[str, WarehouseSettings]
    lake: LakeSettings
    staging: StagingSettings
    schemas: SchemasSettings
    lambdas: LambdasSettings
    secrets: SecretsSettings
    spark: SparkSettings
    logs: LogsSettings
    #: Every value with its origin, in the order people read them.
    values: tuple[Setting, ...]

    @classmethod
    def load(
        cls,
        environ: Mapping[str, str],
        *,
        project: Path | None,
        environment: str | None,
        cwd: Path,
    ) -> Settings:
        """The settings as variables, goldsmith.toml and defaults give them, in that order."""
        file = _project(environ, project, cwd)
        chosen = _environment(environ, environment, file)
        said = listen(environ, file, chosen)
        values = fill(said, file.folder, environ)
        tables = _tables(said, file.folder)
        problems = [
            *said.problems,
            *_binding_problems(tables["storage.bind"]),
            *missing(values, chosen),
        ]
        if problems:
            raise BadSettings(file=str(file.path), problems=tuple(problems))
        sections = {section: _section(section, values, tables) for section in SECTIONS}
        return cls(
            project=file.folder,
            environment=chosen,
            name=values["name"],
            warehouses={type_: sections.pop(f"warehouses.{type_}") for type_ in WAREHOUSES},
            values=_listed(said, values, tables),
            **sections,
        )

    @staticmethod
    def default_toml(name: str) -> str:
        """The goldsmith.toml of a new project."""
        from goldsmith.settings.template import TEMPLATE, quoted

        return TEMPLATE.replace("{name}", quoted(name))

    def address(self, s3_uri: str) -> str:
        """What an s3:// address of the catalog is here: a path, or s3:// somewhere else."""
        return self._bindings.address(s3_uri)

    def catalog_address(self, real: str) -> str:
        """What the catalog calls a real place: the way back from `address`."""
        return self._bindings.catalog_address(real)

    @cached_property
    def _bindings(self) -> Bindings:
        from goldsmith.settings.addresses import Bindings

        in_folder = self.storage.kind is StorageKind.FOLDER
        return Bindings.of(self.storage.bind, str(self.storage.folder) if in_folder else "s3://")


def _project(environ: Mapping[str, str], named: Path | None, cwd: Path) -> project.ProjectFile:
    return project.read(project.find(environ, named, cwd))


def _environment(environ: Mapping[str, str], asked: str | None, file: project.ProjectFile) -> str:
    declared = file.table.get("environments")
    known = {EMBEDDED, *(declared if isinstance(declared, Mapping) else ())}
    said = file.table.get("default_environment")
    for origin, name in (
        ("--env", asked),
        ("$GOLDSMITH_ENV", environ.get("GOLDSMITH_ENV")),
        (file.place("default_environment"), said if isinstance(said, str) else None),
    ):
        if name and name not in known:
            raise UnknownEnvironment(
                environment=name,
                origin=origin,
                known=tuple(sorted(known)),
                file=str(file.path),
            )
        if name:
            return name
    return EMBEDDED


def _tables(said: Everything, folder: Path) -> dict[str, dict[str, str]]:
    """The free tables, each entry from whoever has the most right to say it."""
    tables = {
        name: {key: one.value for key, one in said.entries.get(name, {}).items()}
        for name, spec in specs().items()
        if spec.kind is Kind.TABLE
    }
    bind = tables["storage.bind"]
    for prefix, real in bind.items():
        bind[prefix] = real if "://" in real else str(absolute(real, folder))
    return tables


def _binding_problems(bind: Mapping[str, str]) -> list[str]:
    if not bind:
        return []
    from goldsmith.settings.addresses import problems

    return problems(bind)


def _section(section: str, values: Filled, tables: Mapping[str, Mapping[str, str]]) -> Any:
    holds = SECTIONS[section]
    given: dict[str, Any] = {}
    for one in fields(holds):
        name = f"{section}.{one.name}"
        given[one.name] = tables[name] if name in tables else values[name]
    return holds(**given)


def _listed(
    said: Everything, values: Filled, tables: Mapping[str, Mapping[str, str]]
) -> tuple[Setting, ...]:
    listed: list[Setting] = []
    for name, spec in specs().items():
        if name in tables:
            origins = said.entries.get(name, {})
            found = [(f'{name}."{key}"', tables[name][key], origins[key].origin) for key in origins]
        else:
            found = [(name, values[name], values.origin(name))]
        listed += [
            Setting(name=full, value=value, origin=origin, doc=spec.doc, kind=spec.kind)
            for full, value, origin in found
        ]
    return tuple(listed)
