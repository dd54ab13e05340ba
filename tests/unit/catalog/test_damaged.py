"""A catalog whose file is damaged, or no database at all, is refused with a code."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from goldsmith.catalog.errors import CatalogDamaged
from goldsmith.cli.main import goldsmith
from goldsmith.storage.lake_tables import LakeListBroken

COMMANDS = (
    ("status",),
    ("plan",),
    ("run",),
    ("why", "orders_etl"),
    ("queue",),
    ("workers",),
    ("schedules", "list"),
    ("runs", "list"),
    ("keys", "list"),
    ("catalog", "history"),
    ("catalog", "migrate", "--yes"),
    ("stop", "everything", "--yes"),
    ("paths", "silver_orders"),
    ("backfill", "orders_etl", "--from", "2026-01-01"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged") / "shop"
    assert CliRunner().invoke(goldsmith, ["init", str(folder)]).exit_code == 0
    arguments = ["--project", str(folder), "apply", str(folder / "catalog"), "--yes"]
    assert CliRunner().invoke(goldsmith, arguments).exit_code == 0
    return folder


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_damaged_catalog_is_refused_by_every_command(
    made: Path, command: tuple[str, ...]
) -> None:
    file = made / ".goldsmith" / "catalog.db"
    whole = file.read_bytes()
    try:
        for damaged in (bytes(range(255, -1, -1)) * 400, whole[: len(whole) // 3]):
            file.write_bytes(damaged)
            done = CliRunner().invoke(goldsmith, ["--project", str(made), *command])
            assert isinstance(done.exception, CatalogDamaged), done.exception
            assert file.read_bytes() == damaged
    finally:
        file.write_bytes(whole)


@pytest.mark.parametrize("command", [("plan",), ("datasets", "show", "silver_orders")])
def test_a_damaged_list_of_lake_tables_is_refused(made: Path, command: tuple[str, ...]) -> None:
    file = made / ".goldsmith" / "lake.db"
    file.write_bytes(bytes(range(255, -1, -1)) * 400)
    try:
        done = CliRunner().invoke(goldsmith, ["--project", str(made), *command])
        assert isinstance(done.exception, LakeListBroken), done.exception
    finally:
        file.unlink()
