"""Secrets: found by reference, hidden everywhere else."""

from __future__ import annotations

import json
import pickle
import traceback
from pathlib import Path

import pytest

from goldsmith.credentials import (
    SCHEMES,
    LibraryMissing,
    Secret,
    SecretInPlainText,
    SecretMissing,
    Secrets,
    library,
    looks_like_secret_name,
    redact,
    resolve,
)
from goldsmith.errors import plain_facts
from goldsmith.settings.sections import SettingKind, SettingSpec
from goldsmith.settings.values import of_toml

SECRET = Secret("hunter2/é", reference="env:PASSWORD")


def test_a_secret_in_a_variable_is_found() -> None:
    assert resolve("env:PASSWORD", {"PASSWORD": "hunter2"}).reveal() == "hunter2"


def test_a_secret_in_a_file_is_found_without_its_line_break(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(" hunter2 \n", encoding="utf-8")

    assert resolve(f"file:{file}", {}).reveal() == " hunter2 "


@pytest.mark.parametrize("shown", [str, repr, "{}".format, lambda s: json.dumps(s, default=str)])
def test_a_secret_hides_itself(shown: object) -> None:
    assert callable(shown)
    assert "hunter2" not in shown(SECRET)


def test_a_secret_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="stays in the process"):
        pickle.dumps(SECRET)


@pytest.mark.parametrize("text", ["hunter2", "env:", "vault:x", ""])
def test_plain_text_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(SecretInPlainText) as caught:
        resolve(text, {})

    shown = "".join(traceback.format_exception_only(caught.value)) + caught.value.hint
    assert "hunter2" not in shown
    assert "env:NAME" in caught.value.hint


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("env:NOT_SET", "the environment variable NOT_SET is not set"),
        ("env:EMPTY", "it is empty"),
        ("file:/nowhere/at/all", "No such file or directory"),
        ("file:/", "Is a directory"),
        ("file:/dev/zero", "longer than 64 KiB"),
    ],
)
def test_a_missing_secret_says_why(reference: str, reason: str) -> None:
    with pytest.raises(SecretMissing, match=reason) as caught:
        resolve(reference, {"EMPTY": ""})
    assert reference in str(caught.value)


def test_a_file_that_is_no_text_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(SecretMissing, match="not text"):
        resolve(f"file:{tmp_path / 'binary'}", {})


def test_a_text_loses_its_secrets_also_as_part_of_an_address() -> None:
    short = Secret("e", reference="env:SHORT")
    text = "could not open postgresql://gold:hunter2%2F%C3%A9@db/x with 'hunter2/é'"

    assert redact(text, [SECRET, short]) == "could not open postgresql://gold:•••@db/x with '•••'"


def test_what_a_process_looked_up_is_hidden_from_then_on() -> None:
    secrets = Secrets({"PASSWORD": "hunter2"})
    before = secrets.redact("hunter2")
    secrets.resolve("env:PASSWORD")

    assert (before, secrets.redact("hunter2")) == ("hunter2", "•••")


@pytest.mark.parametrize(
    "name",
    ["password", "storage.secret_key", "spark.hadoop.fs.s3a.access.key", "AWS_SESSION_TOKEN",
     "apiKey", "clientSecret", "DB_PWD", "credentials"],
)  # fmt: skip
def test_names_of_secrets_are_known(name: str) -> None:
    assert looks_like_secret_name(name)


@pytest.mark.parametrize(
    "name", ["keys", "primary_key", "token_count", "secret_arn", "passenger", "partition_by", ""]
)
def test_other_names_are_no_names_of_secrets(name: str) -> None:
    assert not looks_like_secret_name(name)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_settings_take_every_kind_of_reference(scheme: str) -> None:
    reference = f"{scheme}:/x"

    assert of_toml(reference, SettingSpec(doc="", kind=SettingKind.SECRET), Path("/")) == reference


def test_a_library_that_is_not_there_is_named_with_its_extra() -> None:
    with pytest.raises(LibraryMissing) as caught:
        library("no_such_library", extra="aws")
    assert "goldsmith[aws]" in caught.value.hint


def test_a_secret_is_hidden_as_json_and_python_write_it() -> None:
    odd = Secret('p"q\\r\u00e9', reference="env:ODD")
    for text in (odd.reveal(), json.dumps(odd.reveal()), repr([odd.reveal()])):
        assert "r" not in redact(text, [odd])


def test_facts_are_hidden_before_they_are_quoted() -> None:
    odd = Secret('p"q\\r-secret', reference="env:ODD")
    facts = {"cause": f"no {odd.reveal()}", "all": (odd.reveal(), 1, None), odd.reveal(): True}
    found = plain_facts(facts, lambda text: redact(text, [odd]))
    assert found == {"cause": "no •••", "all": ["•••", 1, None], "•••": True}
