"""YAML and JSON texts: what scalars mean, where things stand, and what is refused."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from goldsmith.catalog.yaml_documents import (
    MOST_ALIASED,
    MOST_LEVELS,
    BadFiles,
    FileMissing,
    files_of,
    read,
    write,
)


def value(text: str, file: str = "a.yaml") -> Any:
    documents, problems = read(text, file)
    assert problems == []
    [document] = documents
    return document


def problems(text: str, file: str = "a.yaml") -> list[str]:
    return [str(problem) for problem in read(text, file)[1]]


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("yes", "yes"),
        ("No", "No"),
        ("on", "on"),
        ("12:30", "12:30"),
        ("2026-01-31", "2026-01-31"),
        ("2026-01-31 08:00:00", "2026-01-31 08:00:00"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("7", 7),
        ("-7", -7),
        ("007", "007"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e5", 1e5),
        ("1.5e3", 1.5e3),
        ("1E-7", 1e-7),
        ("5e-324", 5e-324),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("'7'", "7"),
        ('"true"', "true"),
        ("!!str 7", "7"),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_a_scalar_means_what_yaml_1_2_says(text: str, means: Any) -> None:
    found = value(f"key: {text}")["key"]
    assert found == means
    assert type(found) is type(means)


def test_mappings_remember_their_lines() -> None:
    found = value("a: 1\n\nb:\n  - c: 2\n    d: 3\n")
    assert found.lines == {"a": 1, "b": 3}
    assert found["b"][0].line == 4
    assert found["b"][0].lines == {"c": 4, "d": 5}


def test_every_document_of_a_text_is_read() -> None:
    documents, _ = read("a: 1\n---\nb: 2\n---\n", "a.yaml")
    assert documents == [{"a": 1}, {"b": 2}, None]


def test_an_empty_text_holds_no_document() -> None:
    assert read("", "a.yaml") == ([], [])
    assert read("# nothing but a comment\n", "a.yaml") == ([], [])


def test_aliases_stand_for_what_they_name() -> None:
    assert value("a: &x {b: 1}\nc: *x\nd: [*x, *x]") == {
        "a": {"b": 1},
        "c": {"b": 1},
        "d": [{"b": 1}, {"b": 1}],
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [1\nb: 2", "a.yaml:2: this is not YAML"),
        ("a: 1\n\tb: 2", "a.yaml:2: this is not YAML"),
        ("a: 1\na: 2\na: 3", "a.yaml:2: 'a' is defined twice; first in line 1"),
        ("a: 1\nb: *x", "a.yaml:2: nothing is called &x before this"),
        ("a: &x [*x]", "a.yaml:1: nothing is called &x before this"),
        ("a: &x 1\n---\nb: *x", "a.yaml:3: nothing is called &x before this"),
        ("a: 1\n[b]: 2", "a.yaml:2: a key has to be a word"),
        ("? {a: 1}\n: 2", "a.yaml:1: a key has to be a word"),
        ("a: !!python/object/apply:os.system ls", "has no meaning here"),
        ("a: !!binary aGk=", "has no meaning here"),
        ("a: \0", "a.yaml:1: this is not YAML"),
        ("b: 1\na: \ud800", "a.yaml:2: a character here is half of one"),
        ("b: 1\na: \udcff", "a.yaml:2: this is not text in UTF-8"),
        ('a: "\\ud800"', "this is not YAML"),
        ("a: " + "[" * (MOST_LEVELS + 1), f"nested more than {MOST_LEVELS} levels deep"),
        ("[" * 100_000, "levels deep"),
        ("{a: " * 100_000, "levels deep"),
        ("- " * 100_000, "levels deep"),
        ("? " * 100_000, "levels deep"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(text: str, says: str) -> None:
    assert says in problems(text)[0]


def test_a_yaml_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "aliases stand for too many values" in problems("\n".join(lines))[0]


def test_a_few_thousand_aliases_are_fine() -> None:
    text = "a: &a {b: 1}\nc:\n" + "  - *a\n" * (MOST_ALIASED // 4)
    assert len(value(text)["c"]) == MOST_ALIASED // 4


def test_a_name_of_megabytes_is_cut_in_the_sentence() -> None:
    long = "x" * 1_000_000
    [problem] = problems(f"? {long}\n: 1\n? {long}\n: 2\n")
    assert len(problem) < 200


def test_json_may_be_indented_by_tabs() -> None:
    declared = {"pipelines": [{"pipeline_id": "orders"}]}
    assert value(json.dumps(declared, indent="\t"), "a.json") == declared


@pytest.mark.parametrize(
    "written",
    [
        "😀 and 𝔸",
        'a\tb\nc\\d/e"f',
        "\\ud83d\\ude00 as text",
        "\u0001\u007f\u0085\u2028\ufeff",
        1e-300,
        5e-324,
        1e23,
        1e5,
        123456789012345678,
        True,
        None,
        {"1": [1, {"a": "b"}]},
    ],
    ids=ascii,
)
@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_what_python_writes_as_json_is_read_as_it_was(written: Any, ensure_ascii: bool) -> None:
    text = json.dumps({"key": written}, ensure_ascii=ensure_ascii)
    for file in ("a.json", "<stdin>"):
        found = value(text, file)["key"]
        assert found == written
        assert type(found) is type(written) or isinstance(written, dict)


def test_json_may_escape_its_slashes() -> None:
    assert value('{"path": "s3:\\/\\/shop\\/raw"}', "a.json") == {"path": "s3://shop/raw"}


def test_json_without_spaces_is_read() -> None:
    assert value('{"a":[{"b":1,"c":"d"}],"e":{}}', "a.json") == {"a": [{"b": 1, "c": "d"}], "e": {}}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1\nFROM a\n",
        "SELECT 1\n  FROM a",
        "  indented\nfirst",
        "trailing \nblank",
        "\n",
        "a\n\n\n",
        "# not a comment\nb",
        "--- \nnot a document",
        "1e5",
        "1.0",
        "+.5e-3",
        "-7",
        "true",
        "yes",
        "null",
        "",
        " ",
        "2026-01-31",
        "0o17",
        "12:30:45",
        "a: b",
        "- a",
        "{a}",
        "*a",
        "&a",
        "!tag",
        "%TAG",
        "@at",
        "`tick`",
        "'quote'",
        '"quote"',
        "a\r\nb",
        "tab\there",
        "\u0085\u2028\u2029\ufeff\ufffe",
        "\x07bell",
        "😀",
        "x" * 200 + " " + "y" * 200,
    ],
    ids=ascii,
)
def test_every_text_is_read_back_as_it_was_written(text: str) -> None:
    written = write({"key": text, text or "empty": [text]})
    assert value(written) == {"key": text, text or "empty": [text]}


@pytest.mark.parametrize("number", [0.1 + 0.2, 1e-300, 5e-324, 1e16, 1e23, -0.0, 1.0, 7, 10**30])
def test_every_number_is_read_back_as_it_was_written(number: float) -> None:
    found = value(write({"key": number}))["key"]
    assert found == number
    assert type(found) is type(number)


def test_sql_is_written_as_a_block_people_can_read() -> None:
    assert write({"sql": "SELECT a\nFROM b\n"}) == "sql: |\n  SELECT a\n  FROM b\n"


def test_other_yaml_readers_read_what_we_write() -> None:
    written = {"a": ["1e5", 1e5, "yes", True, None, "2026-01-31", "x\ny\n"]}
    assert yaml.safe_load(write(written)) == written


def files(tmp_path: Path, **texts: str) -> None:
    for name, text in texts.items():
        file = tmp_path / name.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def names(tmp_path: Path, *paths: str) -> list[str]:
    found = files_of([str(tmp_path / path) for path in paths], io.StringIO())
    return [Path(name).relative_to(tmp_path).as_posix() for name, _text in found]


def test_a_folder_gives_every_yaml_and_json_file_in_it(tmp_path: Path) -> None:
    files(
        tmp_path,
        b_dot_yaml="",
        a_dot_yml="",
        deep__er__c_dot_json="",
        readme_dot_md="",
        _dot_hidden__d_dot_yaml="",
        _dot_e_dot_yaml="",
    )
    (tmp_path / "folder.yaml").mkdir()
    files(tmp_path, folder_dot_yaml__f_dot_yaml="")
    assert names(tmp_path, ".") == ["a.yml", "b.yaml", "deep/er/c.json", "folder.yaml/f.yaml"]


def test_files_come_in_the_order_they_were_named(tmp_path: Path) -> None:
    files(tmp_path, a_dot_yaml="", b_dot_txt="")
    assert names(tmp_path, "b.txt", "a.yaml") == ["b.txt", "a.yaml"]


def test_a_dash_is_standard_input() -> None:
    assert list(files_of(["-"], io.StringIO("a: 1"))) == [("<stdin>", "a: 1")]


def test_standard_input_need_not_be_utf_8() -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"a: 1\nb: \xff\n"), encoding="utf-8")
    [(name, text)] = files_of(["-"], stdin)
    assert problems(text, name) == ["<stdin>:2: this is not text in UTF-8"]


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbfa: 1\r\nb: |\r\n  x\r\n  y\r\n")
    [(_name, text)] = files_of([str(tmp_path / "a.yaml")], io.StringIO())
    assert value(text) == {"a": 1, "b": "x\ny\n"}


def test_bytes_that_are_not_utf_8_are_said_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes("a: 1\nb: caf\xe9\n".encode("latin-1"))
    [(name, text)] = files_of([str(tmp_path / "a.yaml")], io.StringIO())
    assert problems(text, name) == [f"{name}:2: this is not text in UTF-8"]


@pytest.mark.parametrize("path", ["nowhere.yaml", "x" * 5_000])
def test_a_file_that_is_not_there_is_said_by_name(path: str, tmp_path: Path) -> None:
    with pytest.raises(FileMissing) as raised:
        list(files_of([str(tmp_path / path)], io.StringIO()))
    assert raised.value.path.endswith(path)


def test_bad_files_say_everything_at_once() -> None:
    _, found = read("a: 1\na: 2\nb: 1\nb: 2\n", "a.yaml")
    error = BadFiles(problems=tuple(found))
    assert str(error).startswith("2 problems in the files:\n  a.yaml:2:")
    assert "a.yaml:4:" in str(error)
