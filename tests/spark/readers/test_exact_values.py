"""Values that a type would change are quarantined with their column, never rounded or cut."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from source_folder import Drop, plain

from goldsmith.engine.read import schemas
from goldsmith.engine.read.files import FilesRead

_MICROSECONDS = "2026-01-02T03:04:05.123456"
#: A type, values that fit it as JSON, and values that would be changed.
_TYPES: dict[str, tuple[list[str], list[str]]] = {
    "DOUBLE": (
        [
            *("1.5", "0.1234567890123456789", "9007199254740992", "-9007199254740992", "0"),
            *("1152921504606846976", "1e300", "null"),
        ],
        [
            *("9007199254740993", "-9007199254740993", "1152921504606847000", "1e400"),
            *("1" * 50, "12345678901234567890.5"),
        ],
    ),
    "FLOAT": (["1.5", "16777216", "1e30"], ["16777217", "1e39"]),
    "DECIMAL(10,2)": (["1.25", "1.250", "12", "99999999.99"], ["1.255", "1e-3", "99999999.999"]),
    "DECIMAL(38,2)": (["1.25", "1.2500", "1e-2"], ["1.255", "1e-3", f"{10**30}.255"]),
    "TIMESTAMP": (
        [f'"{_MICROSECONDS}Z"', f'"{_MICROSECONDS}000Z"'],
        [f'"{_MICROSECONDS}789Z"', '"2026-01-02T03:04:05.000000001+02:00"'],
    ),
    "VARCHAR(3)": (['"abc"', '"äöü"', '""'], ['"abcd"']),
    "CHAR(3)": (['"abc"', '"ab"'], ['"abcd"']),
}
_COLUMNS = {f"c{index}": type_ for index, type_ in enumerate(_TYPES)}


def _read(drop: Drop, schema: str, **options: Any) -> FilesRead:
    """As a row that declares the schema."""
    declared = schemas.declared(drop.source(declared_schema=schema), drop.storage)
    return drop.read(declared, **options)


def test_json_values_that_do_not_fit_their_types_are_quarantined(drop: Drop) -> None:
    good: list[str] = []
    bad: dict[str, str] = {}
    for column, type_ in _COLUMNS.items():
        fits, misfits = _TYPES[type_]
        good += [f'{{"{column}": {value}}}' for value in fits]
        good += [f'{{"n": {{"list": [{{"{column}": {value}}}]}}}}' for value in fits]
        bad |= {f'{{"{column}": {value}}}': column for value in misfits}
        bad |= {
            f'{{"n": {{"list": [{{}}, {{"{column}": {value}}}]}}}}': f"n.list.{column}"
            for value in misfits
        }
    drop.put("a.jsonl", "\n".join([*good, *bad]))
    flat = ", ".join(f"{column} {type_}" for column, type_ in _COLUMNS.items())
    inner = ", ".join(f"{column}: {type_}" for column, type_ in _COLUMNS.items())
    read = _read(drop, f"{flat}, n STRUCT<list: ARRAY<STRUCT<{inner}>>>")
    found = dict(plain(read.malformed, "_text", "_reason"))
    assert sorted(found) == sorted(bad)
    for text, column in bad.items():
        assert f" of {column} does not fit" in found[text]
    assert read.rows.count() == len(good)


@pytest.mark.parametrize("is_cut", [False, True])
def test_csv_values_that_do_not_fit_their_types_are_quarantined(drop: Drop, is_cut: bool) -> None:
    good: list[str] = []
    bad: dict[str, str] = {}
    for index, (column, type_) in enumerate(_COLUMNS.items()):
        before, after = "," * index, "," * (len(_COLUMNS) - index - 1)
        fits, misfits = ([value.strip('"') for value in side] for side in _TYPES[type_])
        good += [f"{before}{value}{after}" for value in fits if value and value != "null"]
        bad |= {f"{before}{value}{after}": column for value in misfits}
    # A quote out of order has the file cut into records one by one.
    broken = ['x"y' + "," * (len(_COLUMNS) - 1)] if is_cut else []
    drop.put("a.csv", "\n".join([",".join(_COLUMNS), *good, *bad, *broken]))
    read = _read(drop, ", ".join(f"{column} {type_}" for column, type_ in _COLUMNS.items()))
    found = dict(plain(read.malformed, "_text", "_reason"))
    assert {text.replace("1E-3", "1e-3").replace("0.001", "1e-3") for text in found} == {
        *bad,
        *broken,
    }
    for text, reason in found.items():
        assert " does not fit " in reason or text in broken
    assert read.rows.count() == len(good)
    assert plain(read.rows.where("c2 IS NOT NULL"), "c2") == [
        Decimal(value) for value in ("1.25", "1.25", "12.00", "99999999.99")
    ]


def test_json_values_that_fit_are_what_they_were(drop: Drop) -> None:
    drop.put(
        "a.jsonl",
        '{"big": 1152921504606846976, "paid": 1.5, "at": "2026-01-02T03:04:05.123456Z",'
        ' "m": {"x": 2.25}, "raw": "12:30:45.1234567"}\n',
    )
    schema = "big DOUBLE, paid DECIMAL(10,2), at TIMESTAMP, m MAP<STRING, DECIMAL(5,2)>, raw STRING"
    read = drop.read(schema)
    assert [field.dataType.simpleString() for field in read.schema.fields] == [
        *("double", "decimal(10,2)", "timestamp", "map<string,decimal(5,2)>", "string")
    ]
    (row,) = read.rows.drop("_source_file").collect()
    assert row[0] == 2.0**60
    assert row[1] == Decimal("1.50")
    assert row[2].microsecond == 123456
    assert row[3] == {"x": Decimal("2.25")}
    assert row[4] == "12:30:45.1234567"


def test_whole_numbers_beside_fractions_keep_their_digits_or_are_quarantined(drop: Drop) -> None:
    drop.put("a.jsonl", '{"n": 1.5}\n{"n": 9007199254740993}\n')
    read = drop.read()
    assert plain(read.rows, "n") == [1.5]
    (found,) = plain(read.malformed, "_reason")
    assert found == "the value '9007199254740993' of n does not fit DOUBLE"


def test_a_document_with_a_value_that_does_not_fit_is_quarantined_whole(drop: Drop) -> None:
    drop.put("a.json", '[{"n": 1.5}, {"n": 1e400}]')
    drop.put("b.json", '[{"n": 2.5}, {"n": 3.5}]')
    read = drop.read("n DOUBLE")
    assert plain(read.rows, "n") == [2.5, 3.5]
    assert set(plain(read.malformed, "_text")) == {'[{"n": 1.5}, {"n": 1e400}]'}


@pytest.mark.parametrize("escape", [r"\ud800", r"x\uDFFFy", r"\ud83d x", r"\\\udc00"])
def test_half_a_surrogate_pair_is_quarantined(drop: Drop, escape: str) -> None:
    lines = [rf'{{"t": "{escape}"}}', r'{"t": "\ud83d\ude00"}', r'{"t": "\\ud800"}']
    drop.put("a.jsonl", "\n".join([*lines, r'{"t": "\u00e4"}']))
    read = drop.read("t STRING")
    assert plain(read.rows, "t") == sorted(["😀", r"\ud800", "ä"], key=repr)
    assert plain(read.malformed, "_text") == [lines[0]]
