"""Errors get their code: exceptions that can be raised here, and texts as they were printed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from goldsmith.catalog.defaults import shipped
from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.cli.errors import errors as command
from goldsmith.cli.output import CliContext
from goldsmith.engine.lake.lake_table import LostRace
from goldsmith.engine.publish.leases import TargetBusy
from goldsmith.engine.read.errors import FileTruncated
from goldsmith.engine.shape.schema_policy import SchemaMismatch
from goldsmith.engine.warehouses.answers import failure
from goldsmith.errors import GoldsmithError
from goldsmith.healing.classify import classify, classify_text
from goldsmith.healing.codes import UNCLASSIFIED, codes
from goldsmith.healing.signals import signals
from goldsmith.planning.integrity.error_codes import DECLARED
from goldsmith.storage.files import SourceUnreachable

CASES = Path(__file__).parents[2] / "cases" / "errors"


def recorded() -> Iterator[Any]:
    for file in sorted(CASES.glob("*.yaml")):
        for case in yaml.safe_load(file.read_text("utf-8")):
            yield pytest.param(case["text"], case["code"], id=case["says"])


@pytest.mark.parametrize(("text", "code"), list(recorded()))
def test_a_text_gets_its_code(text: str, code: str) -> None:
    assert classify_text(text).code.name == code


def test_every_signal_and_every_shipped_pair_names_a_code_and_most_codes_have_a_signal() -> None:
    assert len(codes()) >= 40
    assert {signal.code for signal in signals()} <= codes().keys()
    pairs = [row for row in shipped() if isinstance(row, HealingAction | HealingStep)]
    assert {row.error_code for row in pairs} <= codes().keys()
    tried = {case.values[1] for case in recorded()}
    untried = {signal.code for signal in signals()} - tried
    assert untried <= {"JobCancelled", "NotSupported", "SchemaMismatch", "TypesDoNotMatch"}


def test_a_code_of_ours_says_the_same_as_its_class_about_passing() -> None:
    ours = {kind.__name__: kind for kind in _below(GoldsmithError) if kind.__name__ in codes()}
    assert {
        name for name, kind in ours.items() if kind.transient != codes()[name].may_pass
    } == set()
    assert len(ours) > 15


def _below(kind: type[GoldsmithError]) -> Iterator[type[GoldsmithError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


def _raised(error: Exception, cause: Exception) -> Exception:
    try:
        raise error from cause
    except Exception as caught:
        return caught


def _answer(state: str | None, message: str) -> GoldsmithError:
    return failure(state, message, where="here", location="shop.orders")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "DiskFull"),
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), "TooManyOpenFiles"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), "SourceUnreachable"),
        (MemoryError(), "DriverOutOfMemory"),
        (FileTruncated(file="a", cause="EOF"), "FileTruncated"),
        (SchemaMismatch(target="t", policy="freeze", differences=("a",)), "SchemaMismatch"),
        (TargetBusy(resource="r", holder="h"), "TargetBusy"),
        (LostRace(table="t", cause="c"), "CommitConflict"),
        (SourceUnreachable(location="s3://a", cause="refused"), "SourceUnreachable"),
        (SourceUnreachable(location="s3://a", cause="(ExpiredToken)"), "CredentialsExpired"),
        (
            _answer("40001", "could not serialize access due to concurrent update"),
            "SerializationConflict",
        ),
        (_answer("XX000", "1023 Serializable isolation violation"), "SerializationConflict"),
        (_answer("40P01", "deadlock detected"), "Deadlock"),
        (_answer("55P03", "canceling statement due to lock timeout"), "LockTimeout"),
        (_answer("53300", "too many clients already"), "TooManyConnections"),
        (_answer("57014", "canceling statement due to statement timeout"), "StatementTimeout"),
        (_answer("57014", "canceling statement due to user request"), "LoadCancelled"),
        (_answer("22P02", 'invalid input syntax for type integer: "x"'), "ValueDoesNotFit"),
        (_answer("XX000", "Load into table failed. Check 'stl_load_errors'"), "LoadRefused"),
        (_answer(None, "server socket closed"), "WarehouseUnreachable"),
        (_answer("28P01", "password authentication failed"), "CredentialsWrong"),
        (ValueError("odd"), UNCLASSIFIED),
        (
            _raised(RuntimeError("wrapped"), OSError(errno.ENOSPC, "No space left on device")),
            "DiskFull",
        ),
    ],
)
def test_an_exception_gets_its_code(error: Exception, code: str) -> None:
    assert classify(error).code.name == code


def test_a_cause_says_more_exactly_what_an_error_of_ours_is() -> None:
    class Refused(Exception):
        sqlstate = "40001"

    error = _raised(_answer("40001", "no words"), Refused())
    assert classify(error).code.name == "SerializationConflict"


def test_redshift_s_errors_are_read_from_the_server_s_fields() -> None:
    error = Exception({"S": "ERROR", "C": "42703", "M": 'column "amout" does not exist'})
    assert classify(error).code.name == "ColumnUnknown"


def test_commands_list_explain_and_classify(tmp_path: Path) -> None:
    def ask(*arguments: str) -> Any:
        done = CliRunner().invoke(command, [*arguments, "--json"], obj=CliContext(project=tmp_path))
        assert done.exit_code == 0, done.output
        return json.loads(done.output)

    log = tmp_path / "run.log"
    log.write_text("java.io.IOException: No space left on device")
    assert ask("classify", str(log))["name"] == "DiskFull"
    assert len(ask("list")) == len(codes())
    assert {code["family"] for code in ask("list", "--family", "lake")} == {"lake"}


def test_commands_speak_to_people(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("MemoryError")
    runner = CliRunner()
    result = runner.invoke(command, ["classify", str(log)], obj=CliContext())
    assert result.output.startswith("DriverOutOfMemory: The driver ran out of memory.")
    assert "SourceThrottled" in runner.invoke(command, ["list"], obj=CliContext()).output


def test_a_jvm_that_refuses_is_no_source_that_does() -> None:
    # py4j leaves the error of its socket as it is: where it was raised says whose it is.
    py4j: dict[str, Any] = {"__name__": "py4j.clientserver"}
    exec("def connect():\n    raise ConnectionRefusedError(111, 'Connection refused')", py4j)
    with pytest.raises(ConnectionRefusedError) as refused:
        py4j["connect"]()
    assert classify(refused.value).code.name == "SparkLost"
    assert classify(ConnectionRefusedError(111, "Connection refused")).code.name != "SparkLost"


def test_the_finding_of_unknown_codes_knows_every_declared_code() -> None:
    assert sorted(DECLARED) == sorted(codes())
