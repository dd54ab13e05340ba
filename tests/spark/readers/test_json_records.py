"""json and jsonl: lines, documents, and what Spark would pass over in silence."""

from __future__ import annotations

from decimal import Decimal

import pytest
from source_folder import Drop, halves, plain


def test_jsonl_is_a_record_a_line(drop: Drop) -> None:
    drop.put(
        "a.jsonl", '\ufeff{"id": 1, "user": {"name": "ann", "tags": ["x"]}}\r\n\r\n{"id": 2}\r\n'
    )
    read = drop.read()
    assert plain(read.rows, "id", "user.name", "user.tags") == [(1, "ann", ["x"]), (2, None, None)]
    assert plain(read.malformed) == []


def test_json_records_that_cannot_be_parsed_are_kept(drop: Drop) -> None:
    lines = [
        '{"id": 1, "at": "2026-01-01T00:00:00Z"}',
        '{"id": 2',
        '{"id": "x"}',
        "7",
        '{"at": "no"}',
    ]
    drop.put("a.jsonl", "\n".join(lines))
    read = drop.read("id BIGINT, at TIMESTAMP")
    assert plain(read.rows, "id") == [1]
    assert plain(read.malformed, "_text", "_reason") == [
        ("7", "a value in it does not fit the type of its column"),
        ('{"at": "no"}', "at is no TIMESTAMP"),
        ('{"id": "x"}', "id is no BIGINT"),
        ('{"id": 2', "it is not valid JSON"),
    ]


@pytest.mark.parametrize("shape", ["json", "jsonl"])
def test_a_field_without_a_name_is_not_lost(drop: Drop, shape: str) -> None:
    lines = [
        '{"id": 1, "v": "{\\"\\":1}", "w": ["", ""]}',
        '{"id": 2, "": 5}',
        '{"id": 3, "s": {"x": [{ "" : 5}]}}',
    ]
    for number, line in enumerate(lines):
        drop.put(f"{number}.{shape}", line)
    read = drop.read()
    assert plain(read.rows, "id", "v", "w") == [(1, '{"":1}', ["", ""])]
    assert set(plain(read.malformed, "_reason")) == {
        "it has a field without a name, which no inferred column holds"
    }
    assert plain(drop.read("id BIGINT", declared_schema="id BIGINT").rows, "id") == [1, 2, 3]


def test_files_of_nothing_but_garbage_are_all_malformed(drop: Drop) -> None:
    drop.put("a.jsonl", "one\ntwo\n")
    read = drop.read()
    assert read.schema.names == []
    assert read.rows.count() == 0
    assert plain(read.malformed, "_text") == ["one", "two"]


def test_json_is_a_document_or_an_array_of_records(drop: Drop) -> None:
    drop.put("1.json", '{\n  "id": 1,\n  "paid": 12345678901234567.89\n}\n')
    drop.put("2.json", '[\n {"id": 2},\n {"id": 3}\n]')
    drop.put("3.json", "\ufeff[]")
    drop.put("4.json", "  \n")
    read = drop.read("id BIGINT, paid DECIMAL(30, 2)")
    good, texts = halves(read)
    assert good == [(1, Decimal("12345678901234567.89")), (2, None), (3, None)]
    assert texts == []


def test_lines_in_a_file_named_json_are_all_read(drop: Drop) -> None:
    # Spark's reader of documents takes the first value and is silent about the rest.
    drop.put("a.json", '{"id": 1}\n{"id": 2}\n')
    drop.put("b.json", '[{"id": 3}, {"id": 4}]\n[{"id": 5}]\n')
    assert halves(drop.read()) == ([1, 2, 3, 4, 5], [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": 1}{"id": 2}\n'),
        ("a.json", '{\n"id": 1\n}\n{\n"id": 2\n}'),
        ("a.json", '{\n"id": 1\n}}\n{\n"id": 2\n}'),
        ("a.json", '[{"id": 1}] and more'),
    ],
)
def test_values_that_follow_a_value_are_not_passed_over(drop: Drop, name: str, text: str) -> None:
    drop.put(name, text)
    good, texts = halves(drop.read("id BIGINT"))
    assert good == []
    assert "".join(texts).count('"id"') == text.count('"id"')


SEVERAL = "it is not one JSON value: something follows the first in the same line"


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 1}{"id": 2}',
        '{"id": 1} {"id": 2}',
        '{"id": 1},{"id": 2}',
        '{"id": 1}, ',
        '{"id": 1} and more',
        '{"id": 1}}',
        '{"id": 1}}{"id": 2}',
        '{"id": 1}]}{"id": 2}',
        '[{"id": 1}]}{"id": 2}',
        '{"id": 1}, "more": {"id": 2}',
        '{"id": 1}], "more": [{"id": 2}',
        '[{"id": 1}], "more": [{"id": 2}]',
    ],
)
@pytest.mark.parametrize("before", [1, 5000])
def test_a_line_of_more_than_one_value_is_kept_whole(drop: Drop, line: str, before: int) -> None:
    good = '{"id": 0}\n' * before
    drop.put("a.jsonl", f'{good}{line}\n{{"id": 9}}\n')
    read = drop.read("id BIGINT")
    assert sorted(set(plain(read.rows))) == [0, 9]
    assert plain(read.malformed, "_text", "_reason") == [(line.strip(), SEVERAL)]


def test_lines_are_not_checked_where_the_row_says_so(drop: Drop) -> None:
    drop.put("a.jsonl", '{"id": 1}\n{"id": "x"}\n{"id": 2}{"id": 3}\n[{"id": 4}, {"id": 5}]\n')
    read = drop.read("id BIGINT", check_lines=False)
    assert plain(read.rows) == [1, 2, 4, 5]
    assert plain(read.malformed, "_text", "_reason") == [('{"id": "x"}', "id is no BIGINT")]


@pytest.mark.parametrize("check_lines", [False, True])
def test_lines_that_look_like_more_are_one_value(drop: Drop, check_lines: bool) -> None:
    lines = [
        '\ufeff{"a": "}{", "b": {"c": "},{"}}',
        '{"a": "1", "b": {"c": "x"}}  \r',
        "",
        "  ",
        '  {"a": "2\\"}{", "b": null}\t',
        '[{"a": "3"}, {"a": "4"}]',
        ' [{"a": "5"}]',
        "[]",
    ]
    drop.put("a.jsonl", "\n".join(lines))
    good, texts = halves(drop.read("a STRING, b STRUCT<c: STRING>", check_lines=check_lines))
    others = [("3", None), ("4", None), ("5", None), ("}{", ("},{",))]
    assert (good, texts) == ([("1", ("x",)), ('2"}{', None), *others], [])


def test_comments_that_are_allowed_follow_a_value(drop: Drop) -> None:
    drop.put("a.jsonl", '{"id": 1} // the first\n{"id": 2} /* the last */\n')
    assert halves(drop.read("id BIGINT", allowComments=True)) == ([1, 2], [])


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_bytes_that_are_no_text_are_never_replaced_by_others(drop: Drop, name: str) -> None:
    record = '{"id":\n 1, "city": "Orléans"}'
    drop.put(name, (record if name == "a.json" else record.replace("\n", "")).encode("latin-1"))
    read = drop.read("id BIGINT, city STRING")
    assert plain(read.rows) == []
    assert plain(read.malformed, "_reason") == ["it is not valid UTF-8"]
    assert "Orl\ufffdans" in plain(read.malformed, "_text")[0]


def test_a_document_stands_or_falls_as_a_whole_and_is_kept_once(drop: Drop) -> None:
    document = '[{"id": 1},\n{"id": "x"},\n{"id": 3}]'
    drop.put("a.json", document)
    drop.put("b.json", '{\n"id": 4}')
    read = drop.read("id BIGINT")
    assert plain(read.rows) == [4]
    assert plain(read.malformed, "_text", "_reason") == [
        (document, "a value in it does not fit the type of its column")
    ]


def test_nested_json_of_many_files_is_one_schema(drop: Drop) -> None:
    drop.put("1.jsonl", '{"id": 1, "user": {"name": "ann"}}\n')
    drop.put("2.jsonl", '{"user": {"age": 7}, "id": 2.5}\n')
    assert drop.infer().simpleString() == "struct<id:double,user:struct<age:bigint,name:string>>"


def test_names_may_have_any_characters(drop: Drop) -> None:
    record = '{"a.b": 1, "c`d": {"e\'f": 2}}'
    drop.put("1.json", f"{record}\n{{\n")
    drop.put("2.json", record.replace("{", "{\n"))
    assert plain(drop.read().rows) == [(1, (2,)), (1, (2,))]


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16"])
def test_a_document_in_another_encoding(drop: Drop, encoding: str) -> None:
    drop.put("a.json", '{\n"größe": "é"\n}'.encode(encoding))
    read = drop.read(encoding=encoding)
    assert read.schema.names == ["größe"]
    assert plain(read.rows) == ["é"]


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16LE", "UTF-16BE"])
@pytest.mark.parametrize("check_lines", [False, True])
def test_lines_in_another_encoding(drop: Drop, encoding: str, check_lines: bool) -> None:
    drop.put("a.jsonl", '{"größe": "é"}\r\n{"größe": "ö"}\n{"größe"'.encode(encoding))
    read = drop.read(encoding=encoding, check_lines=check_lines)
    assert halves(read) == (["é", "ö"], ['{"größe"'])


def test_an_encoding_may_be_called_a_charset(drop: Drop) -> None:
    drop.put("a.jsonl", '{"a": "é"}\n{"a": "ö"}\n'.encode("UTF-16LE"))
    assert halves(drop.read(charset="UTF-16LE", lineSep="\n")) == (["é", "ö"], [])


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_bytes_that_are_none_of_the_encoding_are_quarantined(drop: Drop, name: str) -> None:
    drop.put(name, '{"a": "\u00e9"}'.encode("latin-1"))
    read = drop.read("a STRING", encoding="US-ASCII")
    assert plain(read.rows) == []
    assert plain(read.malformed, "_reason") == ["it is not valid US-ASCII"]


def test_lines_may_be_separated_by_anything(drop: Drop) -> None:
    drop.put("a.jsonl", '{"id": 1};{"id": 2};{"id";')
    assert halves(drop.read(lineSep=";")) == ([1, 2], ['{"id"'])


def test_two_values_of_one_name_are_malformed_and_not_the_last_of_them(drop: Drop) -> None:
    drop.put("a.jsonl", '{"id": 1, "id": 2}\n{"id": 3, "x": {"id": 4}}\n')
    read = drop.read("id BIGINT")
    assert plain(read.rows) == [3]
    assert plain(read.malformed, "_text", "_reason") == [
        ('{"id": 1, "id": 2}', "it has several values of one name")
    ]


def test_a_name_spelt_otherwise_than_in_the_schema_is_never_null_in_silence(drop: Drop) -> None:
    drop.put("a.jsonl", '{"id": 1}\n{"ID": 2}\n{"name": "x"}\n')
    read = drop.read("id BIGINT, name STRING")
    assert halves(read) == ([(1, None), (None, "x")], ['{"ID": 2}'])
    assert plain(read.malformed, "_reason") == ["the columns of the schema are spelt otherwise: ID"]


def test_objects_inside_records_with_a_name_twice_or_spelt_otherwise_are_quarantined(
    drop: Drop,
) -> None:
    good = [
        '{"id": 1, "o": {"x": 1, "y": {"z": 2}}, "a": [{"x": 1}, {}], "m": {"k": 1, "K": 2}}',
        "{'id': 2, 'o': {'x': 1}}",
        '{"id": 3, "o": {"other": 1, "OTHER": 2}, "n": {"k": {"x": 3}}}',
    ]
    bad = {
        '{"o": {"x": 1, "x": 2}}': "it has several values of one name in o",
        '{"o": {"y": {"z": 1, "z": 2}}}': "it has several values of one name in o.y",
        '{"o": {"X": 1}}': "fields of o are spelt otherwise than in the schema",
        '{"o": {"x": 1, "X": 2}}': "fields of o are spelt otherwise than in the schema",
        '{"a": [{}, {"x": 1, "x": 2}]}': "it has several values of one name in a",
        '{"a": [{}, {"X": 1}]}': "fields of a are spelt otherwise than in the schema",
        '{"m": {"k": 1, "k": 2}}': "it has several values of one name in m",
        '{"n": {"k": {"x": 1, "x": 2}}}': "it has several values of one name in n",
        '{"ID": 1}': "the columns of the schema are spelt otherwise: ID",
        '{"id": 1, "id": 2}': "it has several values of one name",
    }
    drop.put("a.jsonl", "\n".join([*good, *bad]))
    read = drop.read(
        "id INT, o STRUCT<x: INT, y: STRUCT<z: INT>>, a ARRAY<STRUCT<x: INT>>, m MAP<STRING, INT>,"
        " n MAP<STRING, STRUCT<x: INT>>"
    )
    assert dict(plain(read.malformed, "_text", "_reason")) == bad
    assert plain(read.rows, "id", "o.x", "o.y.z", "n.k.x") == [
        (1, 1, 2, None),
        (2, 1, None, None),
        (3, None, None, 3),
    ]
