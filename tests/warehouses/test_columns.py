"""Types, names and new columns arrive as they are, or are refused with a word."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from goldsmith.engine.warehouses.dialect import WarehouseDialect
from goldsmith.engine.warehouses.duckdb.dialect import DUCKDB
from goldsmith.engine.warehouses.exact_values import refuse_changed
from goldsmith.engine.warehouses.landing import BadLocation, Landing, WarehouseTable
from goldsmith.engine.warehouses.postgres.dialect import POSTGRES
from goldsmith.engine.warehouses.redshift.dialect import REDSHIFT
from goldsmith.engine.warehouses.redshift.layout import BadTargetOption
from goldsmith.engine.warehouses.staged import as_json
from goldsmith.engine.warehouses.statements import create_target
from goldsmith.engine.warehouses.types import NamesCollide, NameTooLong, TypeNotLoadable, is_nested
from goldsmith.engine.warehouses.warehouse import Load, LoadColumn, LoadRefused
from warehouses.bench import Bench

MOMENT = datetime(2026, 11, 16, 9, 30, 12, 123456, tzinfo=UTC)
STRUCT = "struct<a:int,b:decimal(12,2)>"
#: Type → what is staged → what is read back, where that is something else.
VALUES: dict[str, tuple[Any, ...]] = {
    "boolean": (True,),
    "tinyint": (-128,),
    "smallint": (32767,),
    "int": (-(2**31),),
    "bigint": (2**63 - 1,),
    "float": (0.5,),
    "double": (1e300,),
    "decimal(12,2)": (Decimal("-1234567890.10"),),
    "decimal(38,10)": (Decimal("1234567890123456789012345678.0123456789"),),
    "string": ('a "quoted", text\nof two lines; ü 🙂 \\x \\N',),
    "binary": (b"\x00\xff\\x",),
    "date": (date(2026, 2, 28),),
    "timestamp": (MOMENT,),
    "timestamp_ntz": (MOMENT.replace(tzinfo=None),),
    "array<string>": (["a", "", None],),
    "map<string,int>": ([("x", 1), ("y", None)], {"x": 1, "y": None}),
    STRUCT: ({"a": 1, "b": Decimal("1.20")}, {"a": 1, "b": 1.2}),
    "variant": ('{"a": [1, null]}', {"a": [1, None]}),
}


def plain(value: Any, type_: str) -> Any:
    if value is not None and is_nested(type_):
        value = json.loads(value) if isinstance(value, str) else value
        if type_ == STRUCT:
            # What Redshift makes of a decimal inside JSON is its own business.
            return {**value, "b": float(value["b"])}
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC)
    return value


def test_every_type_arrives(warehouse: Bench) -> None:
    where = warehouse.table()
    schema = {f"c{number}": type_ for number, type_ in enumerate(VALUES)}
    staged = tuple(values[0] for values in VALUES.values())
    warehouse.load(where, [staged, (None,) * len(schema)], schema)
    found = {row[0] is None: row for row in warehouse.rows(where, *schema)}
    for (type_, values), value in zip(VALUES.items(), found[False], strict=True):
        assert plain(value, type_) == values[-1], type_
    assert found[True] == (None,) * len(schema)


def test_columns_of_the_same_types_are_not_compared(warehouse: Bench) -> None:
    where = warehouse.table()
    schema = {f"c{number}": type_ for number, type_ in enumerate([*VALUES, "time(6)"])}
    if warehouse.kind == "redshift":
        del schema[f"c{len(VALUES)}"]
    warehouse.load(where, [(None,) * len(schema)], schema)
    dialect = {"duckdb": DUCKDB, "postgres": POSTGRES, "redshift": REDSHIFT}[warehouse.kind]
    table_columns = warehouse.warehouse.columns(where)
    assert table_columns is not None
    landing = Landing.of(warehouse.order(where, [], schema), dialect, table_columns)

    def run(sql: str, *values: object) -> list[tuple[Any, ...]]:
        raise AssertionError(sql)

    refuse_changed(run, landing, table_columns, where)


def test_null_is_not_the_empty_text(warehouse: Bench) -> None:
    where, rows = warehouse.table(), [("",), (None,), ("NULL",), ("\\N",), (" ",)]
    warehouse.load(where, rows, {"c": "string"})
    assert Counter(warehouse.rows(where)) == Counter(rows)


def test_numbers_that_are_none_arrive(warehouse: Bench) -> None:
    where = warehouse.table()
    warehouse.load(where, [(float("inf"),), (float("nan"),)], {"c": "double"})
    assert sorted(map(str, (row[0] for row in warehouse.rows(where)))) == ["inf", "nan"]


def test_timestamps_written_as_int96_are_utc(warehouse: Bench) -> None:
    where = warehouse.table()
    staged, schema = warehouse.stage([], {}), {"a": "timestamp", "b": "timestamp"}
    table = pa.table({"a": [MOMENT.replace(tzinfo=None)], "b": [MOMENT]})
    file = f"{staged}/part-00000.parquet"
    warehouse.put(file, table, use_deprecated_int96_timestamps=True)
    warehouse.load(where, [()], schema, staged=staged)
    assert [plain(v, "timestamp") for v in warehouse.rows(where)[0]] == [MOMENT, MOMENT]


def test_odd_names_are_kept(warehouse: Bench) -> None:
    odd = ['say "hi"', "order", "Größe", "UPPER", "100%s", "a.b", "it's", "semi;colon", "--", "$1"]
    where, schema = f"{warehouse.table()} of 'odd'", dict.fromkeys(odd, "string")
    rows = [tuple(odd), tuple(reversed(odd))]
    how = {"keys": ("order", "UPPER"), "watermark": "100%s"}
    warehouse.load(where, rows, schema, mode="merge", **how)
    warehouse.load(where, rows, schema, mode="merge", **how)
    assert Counter(warehouse.rows(where, *odd)) == Counter(rows)
    where = f"{where} too"
    schema["at"] = "timestamp"
    rows = [(*row, MOMENT) for row in rows]
    warehouse.load(where, rows, schema, mode="scd2", keys=("order", "UPPER"), watermark="at")
    assert Counter(warehouse.rows(where, *odd)) == Counter(row[:-1] for row in rows)


def test_new_columns_are_added_and_missing_ones_are_null(warehouse: Bench) -> None:
    where = warehouse.table()
    warehouse.load(where, [(1, "a")], {"id": "bigint", "name": "string"})
    warehouse.load(where, [("x", 2)], {"new one": "string", "id": "bigint"})
    found = warehouse.rows(where, "id", "name", "new one")
    assert Counter(found) == Counter([(1, "a", None), (2, None, "x")])


@pytest.mark.parametrize("mode", ["merge", "scd2"])
def test_new_columns_come_with_keys_too(warehouse: Bench, mode: str) -> None:
    where, how = warehouse.table(), {"mode": mode, "keys": ("id",), "watermark": "at"}
    warehouse.load(where, [(1, MOMENT, 7)], {"id": "bigint", "at": "timestamp", "n": "int"}, **how)
    later = MOMENT.replace(hour=20)
    new = {"id": "bigint", "at": "timestamp", "tags": "array<string>"}
    warehouse.load(where, [(1, later, ["t"])], new, **how)
    found = {row[0]: row[1] for row in warehouse.rows(where, "n", "tags")}
    kept = {7: None, None: ["t"]} if mode == "scd2" else {None: ["t"]}
    assert {n: plain(tags, "array") for n, tags in found.items()} == kept


def test_a_table_keeps_its_own_spelling(warehouse: Bench) -> None:
    where = warehouse.table()
    warehouse.load(where, [(1, "a")], {"UserId": "bigint", "name": "string"})
    how = {"mode": "merge", "keys": ("userid",)}
    warehouse.load(where, [(1, "b")], {"userid": "bigint", "NAME": "string"}, **how)
    expected = "userid" if warehouse.kind == "redshift" else "UserId"
    assert list(warehouse.warehouse.columns(where) or ()) == [expected, "name"]
    assert warehouse.rows(where) == [(1, "b")]


def test_a_type_that_does_not_fit_is_refused(warehouse: Bench) -> None:
    where = warehouse.table()
    warehouse.load(where, [(1,)], {"id": "int"})
    with pytest.raises(LoadRefused, match=where):
        warehouse.load(where, [("many",)], {"id": "string"})
    with pytest.raises(LoadRefused, match=where):
        warehouse.load(where, [(2**40,)], {"id": "bigint"})
    assert warehouse.rows(where) == [(1,)]
    assert warehouse.leftovers() == []


@pytest.mark.parametrize(
    ("type_", "value", "other", "same", "changed"),
    [
        ("bigint", 1, "double", 2.0, 1.7),
        ("decimal(12,2)", Decimal("1.25"), "decimal(38,10)", Decimal("1.5"), Decimal("1.2567")),
        ("float", 1.25, "double", 0.5, 1.23456789012345),
        (
            "date",
            date(2026, 1, 1),
            "timestamp",
            MOMENT.replace(hour=0, minute=0, second=0, microsecond=0),
            MOMENT,
        ),
        ("boolean", True, "int", 1, 5),
    ],
)
@pytest.mark.parametrize("mode", ["append", "merge", "scd2"])
def test_a_value_that_the_type_of_its_column_would_change_is_refused(
    warehouse: Bench, mode: str, type_: str, value: Any, other: str, same: Any, changed: Any
) -> None:
    where, how = warehouse.table(), {"mode": mode, "keys": ("id",), "watermark": "at"}
    schema = {"id": "int", "at": "timestamp", "v": type_}
    warehouse.load(where, [(1, MOMENT, value)], schema, **how)
    schema["v"] = other
    with pytest.raises(LoadRefused, match="could not be loaded") as refused:
        warehouse.load(where, [(2, MOMENT, same), (3, MOMENT, changed)], schema, **how)
    assert refused.value.hint
    if (warehouse.kind, type_) != ("duckdb", "boolean") and type_ == "boolean":
        return  # no other warehouse makes a boolean of a number
    assert "1 row has a value in 'v'" in str(refused.value)
    warehouse.load(where, [(2, MOMENT, same), (4, MOMENT, None)], schema, **how)
    assert Counter(warehouse.rows(where, "id")) == Counter([(1,), (2,), (4,)])
    assert warehouse.leftovers() == []


def test_a_text_in_a_column_of_another_type_keeps_its_value(duckdb: Bench) -> None:
    where = duckdb.table()
    duckdb.load(where, [(Decimal("1.50"), date(2026, 1, 1))], {"n": "decimal(12,2)", "d": "date"})
    texts = {"n": "string", "d": "string"}
    for wrong in (("0.125", "2026-01-02"), ("0.12", "2026-01-02T13:00:00")):
        with pytest.raises(LoadRefused, match="1 row has a value"):
            duckdb.load(where, [wrong], texts)
    duckdb.load(where, [("12.5", "2026-01-02")], texts)
    assert len(duckdb.rows(where)) == 2


def test_times_are_refused_where_copy_cannot_load_them(warehouse: Bench) -> None:
    where, rows, schema = warehouse.table(), [(time(9, 30),)], {"c": "time(6)"}
    if warehouse.kind == "redshift":
        with pytest.raises(TypeNotLoadable, match="'c' is time"):
            warehouse.load(where, rows, schema)
    else:
        warehouse.load(where, rows, schema)
        assert warehouse.rows(where) == rows


@pytest.mark.parametrize("type_", ["interval day to second", "void", "geometry"])
@pytest.mark.parametrize("kind", [DUCKDB, POSTGRES, REDSHIFT])
def test_types_without_a_place_are_refused(kind: WarehouseDialect, type_: str) -> None:
    with pytest.raises(TypeNotLoadable) as refused:
        kind.type_of("c", type_)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("varchar(10)", ("VARCHAR", "varchar(10)", "varchar(40)")),
        ("char(60000)", ("VARCHAR", "varchar(60000)", "varchar(65535)")),
        ("string collate UTF8_LCASE", ("VARCHAR", "text", "varchar(65535)")),
        ("decimal(38,18)", ("DECIMAL(38,18)", "numeric(38,18)", "numeric(38,18)")),
        ("array<struct<a:int>>", ("JSON", "jsonb", "super")),
    ],
)
def test_types_with_words_behind_them(type_: str, expected: tuple[str, ...]) -> None:
    assert tuple(kind.type_of("c", type_) for kind in _KINDS) == expected


_KINDS = (DUCKDB, POSTGRES, REDSHIFT)


def test_names_that_would_be_cut_are_refused() -> None:
    assert POSTGRES.spelt("ü" * 31) == "ü" * 31
    assert DUCKDB.spelt("x" * 500) == "x" * 500
    assert REDSHIFT.spelt("Ä" + "X" * 125) == "Ä" + "x" * 125
    for name, kind in (("ü" * 32, POSTGRES), ("x" * 128, REDSHIFT)):
        with pytest.raises(NameTooLong, match="bytes"):
            kind.spelt(name)


def test_columns_that_differ_by_case_only_are_refused(warehouse: Bench) -> None:
    where, schema = warehouse.table(), {"Id": "int", "ID": "int"}
    if warehouse.kind == "postgres":
        warehouse.load(where, [(1, 2)], schema)
        assert warehouse.rows(where, "ID", "Id") == [(2, 1)]
    else:
        with pytest.raises(NamesCollide, match="'Id' and 'ID'"):
            warehouse.load(where, [(1, 2)], schema)


def test_locations() -> None:
    redshift, duckdb = REDSHIFT, DUCKDB
    assert WarehouseTable.at("Gold.Daily", redshift).sql == '"gold"."daily"'
    assert WarehouseTable.at("daily", POSTGRES).sql == '"public"."daily"'
    assert WarehouseTable.at("daily", duckdb).sql == '"main"."daily"'
    for wrong in ("", "a.b.c", "a.", " .b"):
        with pytest.raises(BadLocation):
            WarehouseTable.at(wrong, duckdb)


def layout(kind: WarehouseDialect, **options: object) -> str:
    columns = (LoadColumn(name="Country", type="string"), LoadColumn(name="day", type="date"))
    load = Load(
        stage_run_id="try-1",
        location="gold.daily",
        mode="append",
        columns=columns,
        staged="",
        rows=0,
        token=1,
        options=options,
    )
    return create_target(Landing.of(load, kind, None))


def test_the_layout_of_a_redshift_table() -> None:
    options = {"distkey": "Country", "sortkey": ["day", "Country"], "encode": {"day": "AZ64"}}
    assert layout(REDSHIFT, **options) == (
        'CREATE TABLE "gold"."daily" ("country" varchar(65535), "day" date ENCODE az64)'
        ' DISTSTYLE KEY DISTKEY("country") COMPOUND SORTKEY("day", "country")'
    )
    assert layout(REDSHIFT, diststyle="all").endswith(") DISTSTYLE ALL")
    assert layout(POSTGRES, **options).endswith('"day" date)')


@pytest.mark.parametrize(
    "options",
    [
        {"distkey": "nowhere"},
        {"sortkey": []},
        {"sortkey": "day", "sortkey_style": "best"},
        {"diststyle": "all); DROP TABLE x"},
        {"encode": {"day": "zstd, x int"}},
    ],
)
def test_options_that_no_table_can_have(options: dict[str, object]) -> None:
    with pytest.raises(BadTargetOption) as refused:
        layout(REDSHIFT, **options)
    assert refused.value.hint


def test_a_layout_is_carried_out(redshift: Bench) -> None:
    where = redshift.table()
    options = {"distkey": "id", "sortkey": "at", "encode": {"id": "az64"}}
    schema = {"id": "bigint", "at": "timestamp"}
    redshift.load(where, [(1, MOMENT)], schema, options=options)
    assert len(redshift.rows(where)) == 1


def test_json_is_as_sparks() -> None:
    value = {1: [True, None, 1.5, float("nan"), -float("inf")], "b": b"\x00", "d": date(2026, 1, 2)}
    assert as_json(value) == ('{"1":[true,null,1.5,"NaN","-Infinity"],"b":"AA==","d":"2026-01-02"}')
    assert as_json([Decimal("1.20"), MOMENT]) == '[1.20,"2026-11-16T09:30:12.123456+00:00"]'


def test_the_page_lists_every_type() -> None:
    page = (Path(__file__).parents[2] / "docs" / "warehouses.md").read_text()
    for spark, duckdb in DUCKDB.types.items():
        postgres, redshift = POSTGRES.types[spark], REDSHIFT.types[spark]
        there = f"| {spark} | {duckdb} | {postgres} | {redshift or 'refused'} |"
        assert there in page.replace("`", ""), there
