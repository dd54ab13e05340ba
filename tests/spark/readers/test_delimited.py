"""csv and tsv: headers, separators, encodings, and records that do not fit."""

from __future__ import annotations

import pytest
from source_folder import Drop, halves, plain

from goldsmith.engine.read.errors import BadSchema

CSV = "id,name\n1,ann\n2,ben\n"


def test_csv_has_a_header_and_is_texts(drop: Drop) -> None:
    drop.put("a.csv", CSV)
    read = drop.read()
    assert read.schema.simpleString() == "struct<id:string,name:string>"
    assert read.origin == "inferred"
    assert plain(read.rows) == [("1", "ann"), ("2", "ben")]
    assert plain(read.malformed) == []
    assert read.rows.columns == ["id", "name", "_source_file"]


def test_csv_is_read_in_a_schema_or_in_inferred_types_when_asked(drop: Drop) -> None:
    drop.put("a.csv", CSV)
    assert plain(drop.read("id BIGINT, name STRING").rows) == [(1, "ann"), (2, "ben")]
    assert drop.read(inferSchema=True).schema.simpleString() == "struct<id:int,name:string>"


def test_tsv_is_separated_by_tabs(drop: Drop) -> None:
    drop.put("a.tsv", "id\tname\n1\tann, or so\n")
    assert plain(drop.read().rows) == [("1", "ann, or so")]


@pytest.mark.parametrize(
    ("text", "options", "rows"),
    [
        pytest.param(
            "1;x\n2;y\n", {"sep": ";", "header": False}, [("1", "x"), ("2", "y")], id="no header"
        ),
        pytest.param("a\\tb\n", {"sep": "\\t", "header": False}, ["a\\tb"], id="an escaped tab"),
        pytest.param("a||b\n1||x\n", {"sep": "||"}, [("1", "x")], id="a long separator"),
        pytest.param("# by hand\n\na,b\n1,x\n", {"comment": "#"}, [("1", "x")], id="comments"),
        pytest.param('"a","b,c"\n1,"x, y"\n', {}, [("1", "x, y")], id="quoted names"),
        pytest.param("a,b\r\n1,x\r\n", {}, [("1", "x")], id="CRLF"),
        pytest.param("\ufeffa,b\r\n1,x\r\n", {}, [("1", "x")], id="a byte order mark"),
        pytest.param('a,b\n1,"x\ny"\n', {"multiLine": True}, [("1", "x\ny")], id="line breaks"),
        pytest.param('a,"b\nc"\n1,x\n', {"multiLine": True}, [("1", "x")], id="one in the header"),
    ],
)
def test_csv_as_it_comes(
    drop: Drop, text: str, options: dict[str, object], rows: list[object]
) -> None:
    drop.put("a.csv", text)
    assert halves(drop.read(**options)) == (rows, [])


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16"])
def test_csv_in_another_encoding(drop: Drop, encoding: str) -> None:
    drop.put("a.csv", "id,größe\n1,é\n".encode(encoding))
    read = drop.read(encoding=encoding)
    assert read.schema.names == ["id", "größe"]
    assert plain(read.rows) == [("1", "é")]


def test_each_csv_file_goes_by_its_own_header(drop: Drop) -> None:
    drop.put("1.csv", "id,name\n1,ann\n")
    drop.put("2.csv", "name,id,NEW\nben,2,x\n")
    drop.put("3.csv", "ID,name\n3,cid\n")
    read = drop.read()
    assert read.schema.names == ["id", "name", "NEW"]
    assert plain(read.rows) == [("1", "ann", None), ("2", "ben", "x"), ("3", "cid", None)]


def test_csv_without_headers_is_numbered_and_widths_may_differ(drop: Drop) -> None:
    drop.put("1.csv", "1,ann\n")
    drop.put("2.csv", "2,ben,x\n")
    read = drop.read(header=False)
    assert read.schema.names == ["_c0", "_c1", "_c2"]
    assert plain(read.rows) == [("1", "ann", None), ("2", "ben", "x")]
    named = drop.read("id INT, name STRING", header=False)
    assert halves(named) == ([(1, "ann")], ["2,ben,x"])


def test_records_that_do_not_fit_are_kept_with_text_and_reason(drop: Drop) -> None:
    drop.put("a.csv", "id,amount,note\n1,1.5,x\n2\n3,many,y\n4,2,z,more\n")
    read = drop.read("id BIGINT, amount DOUBLE, note STRING")
    assert plain(read.rows) == [(1, 1.5, "x")]
    assert plain(read.malformed, "_text", "_reason") == [
        ("2", "it has not 3 values, one for each column"),
        ("3,many,y", "amount is no DOUBLE"),
        ("4,2,z,more", "it has not 3 values, one for each column"),
    ]


def test_a_header_without_a_column_of_the_schema_is_none(drop: Drop) -> None:
    drop.put("a.csv", "1,ann\n2,ben\n")
    with pytest.raises(BadSchema) as caught:
        drop.read("id BIGINT, name STRING")
    assert "options.header" in caught.value.hint
    assert plain(drop.read("id BIGINT, name STRING", enforceSchema=True).rows) == [(2, "ben")]


def test_options_have_sparks_names_in_any_case(drop: Drop) -> None:
    drop.put("a.csv", "1;-\n")
    read = drop.read("id INT, name STRING", HEADER="False", Delimiter=";", nullvalue="-")
    assert plain(read.rows) == [(1, None)]


def test_names_may_have_any_characters(drop: Drop) -> None:
    drop.put("a.csv", "a.b,c`d,e'f,g h,{i}\n1,2,3,4,x\n1,2,3,4\n")
    read = drop.read("`a.b` INT, `c``d` INT, `e'f` INT, `g h` INT, `{i}` STRING")
    assert halves(read) == ([(1, 2, 3, 4, "x")], ["1,2,3,4"])


def test_lines_may_be_separated_by_anything(drop: Drop) -> None:
    drop.put("a.csv", "id,name;1,ann;2,ben;")
    assert plain(drop.read(lineSep=";").rows) == [("1", "ann"), ("2", "ben")]
