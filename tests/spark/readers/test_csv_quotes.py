"""csv by RFC 4180: quotes, line breaks within them, and records that cannot be right."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from source_folder import Drop, ddl, halves, plain

from goldsmith.engine.read import quoting
from goldsmith.engine.read.errors import EncodingUnsupported, FileUnreadable
from goldsmith.engine.read.quoting import Layout, Quoting, scan

RFC = Quoting(sep=",", quote='"', comment=None, encoding="utf-8", spaces=(False, False))


def layout_of(drop: Drop, content: bytes, rules: Quoting = RFC, name: str = "a.csv") -> Layout:
    drop.put(name, content)
    (file,) = drop.files()
    return scan(drop.storage, file, rules)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param('1,"he said ""hi"""\n', [("1", 'he said "hi"')], id="doubled quotes"),
        pytest.param('1,""""\n2,""","""\n', [("1", '"'), ("2", '","')], id="nothing but quotes"),
        pytest.param('1,"x\ny"\n2,z\n', [("1", "x\ny"), ("2", "z")], id="a line break"),
        pytest.param('1,"x\ny"\r\n2,z\r\n', [("1", "x\ny"), ("2", "z")], id="as Excel writes it"),
        pytest.param('1,"x\r\ny"\r\n2,z\r\n', [("1", "x\r\ny"), ("2", "z")], id="a quoted CRLF"),
        pytest.param('1,"x\r\ny"\n2,z\n', [("1", "x\r\ny"), ("2", "z")], id="CRLF among LF"),
        pytest.param('1,"x\ry"\n2,z\n', [("1", "x\ry"), ("2", "z")], id="a quoted CR"),
        pytest.param('1,"x\ny"\r2,z\r', [("1", "x\ny"), ("2", "z")], id="lines that end in CR"),
        pytest.param('1,"x\r\ny"\n2,z\r\n', [("1", "x\r\ny"), ("2", "z")], id="mixed line ends"),
        pytest.param('1,"\n\n"\n\n2,z', [("1", "\n\n"), ("2", "z")], id="empty lines"),
        pytest.param('1,"a\\"\n2,"b\\""c"\n', [("1", "a\\"), ("2", 'b\\"c')], id="a backslash"),
        pytest.param('1,""\n2,\n', [("1", None), ("2", None)], id="an empty value is NULL"),
        pytest.param('1, x \n2," y\n"\n', [("1", " x "), ("2", " y\n")], id="spaces are kept"),
    ],
)
@pytest.mark.parametrize("end", ["", ".gz", ".bz2"])
def test_csv_is_read_as_rfc_4180_says(
    drop: Drop, text: str, rows: list[tuple[Any, ...]], end: str
) -> None:
    pack = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[end]
    header = "a,b\r\n" if "\r\n" in text and "\n2" not in text.replace("\r\n", "") else "a,b\n"
    header = "a,b\r" if "\r2" in text else header
    drop.put(f"a.csv{end}", pack((header + text).encode()))
    assert halves(drop.read()) == (rows, [])


@pytest.mark.parametrize(
    ("text", "rows", "texts"),
    [
        pytest.param(
            '1,"open\n2,ok\n3,"ok"\n',
            [("2", "ok"), ("3", "ok")],
            ['1,"open'],
            id="a quote that is never closed loses one line",
        ),
        pytest.param('1,ok\n2,"open\n3,ok', [("1", "ok"), ("3", "ok")], ['2,"open'], id="no more"),
        pytest.param('1,"x"y\n2,ok\n', [("2", "ok")], ['1,"x"y'], id="text after a closing quote"),
        pytest.param('1,5" p\n2,ok\n', [("2", "ok")], ['1,5" p'], id="a quote inside a value"),
        pytest.param('1, "x"\n2,ok\n', [("2", "ok")], ['1, "x"'], id="a space before a quote"),
        pytest.param(
            '1,"x\n7,no\ny"z\n2,ok\n',
            [("2", "ok")],
            ['1,"x\n7,no\ny"z'],
            id="a line within quotes is never taken for a record",
        ),
        pytest.param(
            '1,"x\ny",2\n"z\n"\n3,ok\n',
            [("3", "ok")],
            ['"z\n"', '1,"x\ny",2'],
            id="too many and too few values, over lines",
        ),
        pytest.param(
            '1\n2,ok\n3,"x",4\n', [("2", "ok")], ["1", '3,"x",4'], id="too many and too few values"
        ),
        pytest.param(
            '"a\nb","x\n2,ok', [("2", "ok")], ['"a\nb","x'], id="values before it, over lines"
        ),
        pytest.param('1,"a\nb"\n2,"\n', [("1", "a\nb")], ['2,"'], id="a cut file"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_record_that_cannot_be_right_is_quarantined_whole_and_alone(
    drop: Drop, text: str, rows: list[tuple[Any, ...]], texts: list[str], end: str
) -> None:
    drop.put("a.csv", ("a,b\n" + text).replace("\n", end))

    def ended(value: Any) -> Any:
        return value.replace("\n", end)

    expected = [tuple(map(ended, row)) for row in rows]
    assert halves(drop.read()) == (expected, [ended(value) for value in texts])


def test_reasons_say_what_is_wrong_with_a_record(drop: Drop) -> None:
    drop.put("a.csv", b'a,b\n1,"x\n2,x,y\nz,ok\n3,\xe9\n4,\0\n5,ok\n')
    read = drop.read("a INT, b STRING")
    assert plain(read.rows) == [(5, "ok")]
    assert plain(read.malformed, "_text", "_reason") == [
        ('1,"x', "a quote in it is not closed, or stands inside a value"),
        ("2,x,y", "it has not 2 values, one for each column"),
        ("3,\ufffd", "it is not valid UTF-8"),
        ("4,\0", "it has a NUL character"),
        ("z,ok", "a is no INT"),
    ]


@pytest.mark.parametrize(
    ("content", "rows", "texts"),
    [
        pytest.param("a,b\n1,x\ry\n2,z\n", [("2", "z")], ["1,x\ry"], id="in the last value"),
        pytest.param("a,b\r\n1\r1,x\r\n2,z\r\n", [("2", "z")], ["1\r1,x"], id="in a CRLF file"),
        pytest.param('a,b\n1,"x"\ry\n2,"z\n"\n', [("2", "z\n")], ['1,"x"\ry'], id="after quotes"),
        pytest.param("a,b\r1,x\n2,z\n", [("2", "z")], ["a,b\r1,x"], id="after the header"),
        pytest.param("a,b\n1,x\n2,z\r", [("1", "x"), ("2", "z")], [], id="at the end of the file"),
    ],
)
@pytest.mark.parametrize("large", [False, True])
def test_a_carriage_return_in_a_value_without_quotes_ends_no_record(
    drop: Drop,
    monkeypatch: pytest.MonkeyPatch,
    content: str,
    rows: list[Any],
    texts: list[str],
    large: bool,
) -> None:
    if large:
        monkeypatch.setattr(quoting, "_LARGE", 0)
    drop.put("a.csv", content.encode())
    assert halves(drop.read()) == (rows, texts)


def test_bytes_that_are_no_text_are_never_replaced_in_silence(drop: Drop) -> None:
    drop.put("a.csv", "a,b\n1,caf\u00e9\n2,ok\n".encode("latin-1"))
    assert halves(drop.read()) == ([("2", "ok")], ["1,caf\ufffd"])
    assert plain(drop.read(encoding="ISO-8859-1").rows) == [("1", "caf\u00e9"), ("2", "ok")]


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-16LE", "windows-1252", "UTF-8"])
def test_quotes_in_other_encodings(drop: Drop, encoding: str) -> None:
    drop.put("a.csv", 'é,b\r\n1,"x\r\né"\r\n2,"y\r\n3,"z"\r\n'.encode(encoding))
    read = drop.read(encoding=encoding)
    assert read.schema.names == ["é", "b"]
    assert halves(read) == ([("1", "x\r\né"), ("3", "z")], ['2,"y'])


@pytest.mark.parametrize(
    ("text", "options", "rows"),
    [
        pytest.param("a;b\n1;'x;''\n'\n", {"sep": ";", "quote": "'"}, [("1", "x;'\n")], id="both"),
        pytest.param('a,b\n1,"x\n', {"quote": ""}, [("1", '"x')], id="no quotes at all"),
        pytest.param(
            'a,b\n1, "x\ny" \n',
            {"ignoreLeadingWhiteSpace": True, "ignoreTrailingWhiteSpace": True},
            [("1", "x\ny")],
            id="spaces around quotes",
        ),
        pytest.param('a||b\n1||"x\n||y"\n', {"sep": "||"}, [("1", "x\n||y")], id="long separator"),
        pytest.param(
            'a,b\n#"\n1,"x\ny"\n#z\n', {"comment": "#"}, [("1", "x\ny")], id="quotes in a comment"
        ),
        pytest.param('a,b\n1,"x\\"y"\n', {"escape": "\\"}, [("1", 'x"y')], id="Spark's escape"),
        pytest.param('1,"x\ny"\n', {"header": False}, [("1", "x\ny")], id="no header"),
        pytest.param('a,b\n1,""\n', {"nullValue": "-"}, [("1", "")], id="an empty text"),
    ],
)
def test_options_by_sparks_names_still_hold(
    drop: Drop, text: str, options: dict[str, Any], rows: list[tuple[Any, ...]]
) -> None:
    drop.put("a.csv", text)
    assert halves(drop.read(**options)) == (rows, [])


def test_types_are_inferred_over_line_breaks(drop: Drop) -> None:
    drop.put("a.csv", 'note,id\n"x\ny",1\n"5"" pipe",2\n')
    read = drop.read(inferSchema=True)
    assert read.schema.simpleString() == "struct<note:string,id:int>"
    assert plain(read.rows) == [('5" pipe', 2), ("x\ny", 1)]


def test_files_of_every_layout_and_order_of_columns_are_one_dataset(drop: Drop) -> None:
    drop.put("1.csv", "id,note\n1,plain\n")
    drop.put("2.csv", 'note,id\n"a\nb",2\n')
    drop.put("3.csv", '"id","note"\n3,"open\n4,ok\n')
    drop.put("day=1/4.csv", 'id\n"5\n\n"\n6\n')
    read = drop.read("id STRING, note STRING")
    rows = [("1", "plain"), ("2", "a\nb"), ("4", "ok"), ("5\n\n", None), ("6", None)]
    assert halves(read) == (rows, ['3,"open'])
    assert plain(read.malformed, "_source_file") == [f"{drop.location}3.csv"]


def test_folders_are_columns_of_files_cut_into_records(drop: Drop) -> None:
    drop.put("day=1/a.csv", 'id,note\n1,"open\n2,ok\n')
    read = drop.read("id INT, note STRING", basePath=drop.location)
    assert (plain(read.rows), plain(read.malformed, "_text")) == ([(2, "ok", 1)], ['1,"open'])


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        (b"a,b\n1,2\n", Layout.LINES),
        (b'a,b\r\n"1,","2"""\r\n"",x', Layout.LINES),
        (b'a,b\n1,"x\ny"\n', Layout.RECORDS),
        (b'a,b\r\n1,"x\ny"\r\n', Layout.RECORDS),
        (b'a,b\r\n1,"x\r\ny"\r\n', Layout.MIXED),
        (b'a,b\n1,"x\ny"\r\n', Layout.MIXED),
        (b'a,b\n1,"x\n', Layout.MIXED),
        (b'a,b\n1,x"\n', Layout.MIXED),
        (b'a,b\n1,"x"y\n', Layout.MIXED),
        (b"a,b\n1,\xff\n", Layout.MIXED),
    ],
)
def test_a_file_proves_how_it_may_be_read(
    drop: Drop, content: bytes, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert layout_of(drop, content) is layout
    # Wherever its bytes are cut on their way.
    monkeypatch.setattr(quoting, "_CHUNK", 1)
    assert layout_of(drop, content, name="a.csv") is layout
    scan.cache_clear()
    assert layout_of(drop, content) is layout


def test_lines_of_white_space_are_values_where_they_can_be(drop: Drop) -> None:
    drop.put("a.csv", "a\n  \nx\n\n")
    assert plain(drop.read().rows) == ["  ", "x"]
    tabs = Drop(spark=drop.spark, storage=drop.storage, location=f"{drop.location}tabs/")
    tabs.put("a.tsv", "a\tb\n\t\n1\t2\n")
    assert plain(tabs.read().rows) == [("1", "2"), (None, None)]


def test_large_files_are_looked_at_by_spark(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quoting, "_LARGE", 10)
    drop.put("1.csv", 'a,b\n1,"x,""y"""\n')
    drop.put("2.csv", 'a,b\n2,"x\ny"\n')
    drop.put("3 +%.csv", 'a,b\n3,"x\n')
    drop.put("4.csv", "\ufeffa,b\n4,é\n")
    looked: list[str] = []

    def noting(storage: Any, file: Any, rules: Any) -> Layout:
        looked.append(file.path.rpartition("/")[2])
        return scan(storage, file, rules)

    monkeypatch.setattr(quoting, "scan", noting)
    assert halves(drop.read()) == ([("1", 'x,"y"'), ("2", "x\ny"), ("4", "é")], ['3,"x'])
    assert set(looked) == {"2.csv", "3 +%.csv"}


def test_a_file_too_large_to_be_cut_is_refused(drop: Drop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quoting, "_LARGEST_MIXED", 10)
    drop.put("a.csv", 'a,b\n1,"open\n2,ok\n3,ok\n')
    with pytest.raises(FileUnreadable, match="a quote in it is not closed"):
        drop.read()


VALUES = st.one_of(
    st.sampled_from(
        ["", '"', '""', ",", "\n", "\r\n", "\r", " ", "\t", "\\", '\\"', "'", "é", "😀"]
    ),
    st.text(st.sampled_from("ab\",;\t\n\r \\'#é日😀-"), max_size=8),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufffd\ufeff"), max_size=6
    ),
)
DIALECTS = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from([",", ";", "\t", "|"]),
        "quotechar": st.sampled_from(['"', "'"]),
        "lineterminator": st.sampled_from(["\r\n", "\n", "\r"]),
        "quoting": st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
    }
)
FILES = st.lists(
    st.integers(1, 3).flatmap(
        lambda width: st.tuples(
            DIALECTS, st.lists(st.tuples(*[VALUES] * width), min_size=1, max_size=4)
        )
    ),
    min_size=20,
    max_size=20,
)
_RUNS = itertools.count()


@settings(
    max_examples=4,
    deadline=None,
    # To shrink would take minutes; the text of the file is small and in the message.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(FILES)
def test_what_pythons_csv_module_writes_comes_back_equal(
    drop: Drop, files: list[tuple[dict[str, Any], list[tuple[str, ...]]]]
) -> None:
    """Many files an example: what takes time is to ask Spark."""
    base = f"{drop.location}{next(_RUNS)}-"
    for index, (dialect, rows) in enumerate(files):
        own_drop = Drop(spark=drop.spark, storage=drop.storage, location=f"{base}{index}/")
        text = io.StringIO(newline="")
        writer = csv.writer(text, **dialect)
        names = [f"c{column}" for column in range(len(rows[0]))]
        writer.writerows([names, *rows])
        again = csv.reader(io.StringIO(text.getvalue(), newline=""), **dialect)
        if [tuple(row) for row in again] != [tuple(names), *rows]:
            # Before Python 3.13 a bare carriage return is not quoted where lines end otherwise.
            continue
        own_drop.put("a.csv", text.getvalue())
        schema = ddl(", ".join(f"{column} STRING" for column in names))
        read = own_drop.read(schema, sep=dialect["delimiter"], quote=dialect["quotechar"])
        # csv has one way to write nothing.
        expected = [tuple(value or None for value in row) for row in rows]
        single = len(names) == 1
        wanted = sorted((row[0] if single else row for row in expected), key=repr)
        assert halves(read) == (wanted, []), (dialect, text.getvalue())


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("id,nam\u00e9\n1,a\n".encode("latin-1"), id="another encoding"),
        pytest.param("id,name\n1,a\n".encode("utf-16"), id="undeclared UTF-16"),
        pytest.param(gzip.compress(b"id,name\n1,a\n"), id="compressed and named as if it were not"),
    ],
)
def test_a_header_that_is_no_text_is_refused(drop: Drop, content: bytes) -> None:
    drop.put("a.csv", content)
    with pytest.raises(FileUnreadable, match=r"its first line"):
        drop.read()


@pytest.mark.parametrize("encoding", ["IBM037", "nonsense-8"])
def test_an_encoding_that_files_cannot_be_read_in_is_refused(drop: Drop, encoding: str) -> None:
    drop.put("a.csv", b"id,name\n1,a\n")
    with pytest.raises(EncodingUnsupported, match=encoding):
        drop.read(encoding=encoding)
