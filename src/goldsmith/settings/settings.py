"""The settings of one process: read once at its start and passed down, each with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldsmith.settings import project
from goldsmith.settings.defaults import Filled, fill, missing
from goldsmith.settings.errors import BadSettings, UnknownEnvironment
from goldsmith.settings.raw_settings import RawSettings, read_raw_settings
from goldsmith.settings.sections import (
    SECTIONS,
    WAREHOUSES,
    CatalogSettings,
    HealthSettings,
    LakehouseSettings,
    LakeSettings,
    LambdasSettings,
    LogsSettings,
    SchemasSettings,
    SecretsSettings,
    SettingKind,
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

#: The environment every project has without declaring it.
EMBEDDED = "embedded"


@dataclass(frozen=True, kw_only=True)
class SettingValue:
    """One value, its origin, and its documentation."""

    name: str
    value: Any
    origin: str
    doc: str
    kind: SettingKind

    @property
    def shown(self) -> str | None:
        """The value as text, without a password that a URL may contain."""
        if self.value is None:
            return None
        if isinstance(self.value, bool):
            return str(self.value).lower()
        return without_password(str(self.value))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of one process in one environment."""

    project: Path
    environment: str
    name: str
    catalog: CatalogSettings
    storage: StorageSettings
    #: By a target's type: redshift, postgres, duckdb.
    warehouses: Mapping[str, WarehouseSettings]
    lake: LakeSettings
    staging: StagingSettings
    schemas: SchemasSettings
    lambdas: LambdasSettings
    secrets: SecretsSettings
    spark: SparkSettings
    health: HealthSettings
    lakehouse: LakehouseSettings
    logs: LogsSettings
    #: Every value with its origin, in the order of the documentation.
    values: tuple[SettingValue, ...]

    @classmethod
    def load(
        cls,
        environ: Mapping[str, str],
        *,
        project: Path | None,
        environment: str | None,
        cwd: Path,
    ) -> Settings:
        """Load the settings from variables, goldsmith.toml and defaults, in that precedence."""
        file = _project(environ, project, cwd)
        chosen = _environment(environ, environment, file)
        raw = read_raw_settings(environ, file, chosen)
        values = fill(raw, file.folder, environ)
        tables = _tables(raw, file.folder)
        problems = [
            *raw.problems,
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
            values=_listed(raw, values, tables),
            **sections,
        )

    @staticmethod
    def default_toml(name: str) -> str:
        """The goldsmith.toml of a new project."""
        from goldsmith.settings.template import TEMPLATE, quoted

        return TEMPLATE.replace("{name}", quoted(name))

    def address(self, s3_uri: str) -> str:
        """The real address of a catalog's s3:// address: a path, or another s3:// address."""
        return self._bindings.address(s3_uri)

    def catalog_address(self, real: str) -> str:
        """The catalog's address of a real address: the inverse of `address`."""
        return self._bindings.catalog_address(real)

    @cached_property
    def _bindings(self) -> Bindings:
        from goldsmith.settings.addresses import Bindings

        in_folder = self.storage.kind is StorageKind.FOLDER
        return Bindings.of(self.storage.bind, str(self.storage.folder) if in_folder else "s3://")


def _project(environ: Mapping[str, str], named: Path | None, cwd: Path) -> project.ProjectFile:
    return project.read(project.find(environ, named, cwd))


def _environment(
    environ: Mapping[str, str], requested: str | None, file: project.ProjectFile
) -> str:
    declared = file.table.get("environments")
    known = {EMBEDDED, *(declared if isinstance(declared, Mapping) else ())}
    default = file.table.get("default_environment")
    for origin, name in (
        ("--env", requested),
        ("$GOLDSMITH_ENV", environ.get("GOLDSMITH_ENV")),
        (file.position("default_environment"), default if isinstance(default, str) else None),
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


def _tables(raw: RawSettings, folder: Path) -> dict[str, dict[str, str]]:
    """The free tables, each entry from its source of highest precedence."""
    tables = {
        name: {key: setting.value for key, setting in raw.entries.get(name, {}).items()}
        for name, spec in specs().items()
        if spec.kind is SettingKind.TABLE
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
    for field in fields(holds):
        name = f"{section}.{field.name}"
        given[field.name] = tables[name] if name in tables else values[name]
    return holds(**given)


def _listed(
    raw: RawSettings, values: Filled, tables: Mapping[str, Mapping[str, str]]
) -> tuple[SettingValue, ...]:
    listed: list[SettingValue] = []
    for name, spec in specs().items():
        if name in tables:
            origins = raw.entries.get(name, {})
            found = [(f'{name}."{key}"', tables[name][key], origins[key].origin) for key in origins]
        else:
            found = [(name, values[name], values.origin(name))]
        listed += [
            SettingValue(name=full, value=value, origin=origin, doc=spec.doc, kind=spec.kind)
            for full, value, origin in found
        ]
    return tuple(listed)
