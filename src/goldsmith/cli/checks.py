"""`checks`: list and explain checks, and try rules on example rows."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from goldsmith.cli.checks_data import export, history, import_, run_checks, suggest
from goldsmith.cli.output import count, echo, json_option, read_text, show, table, unreadable
from goldsmith.errors import BadRequest, GoldsmithError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from goldsmith.checks.check import Check
    from goldsmith.checks.try_checks import Case, TriedCase


@dataclass(eq=False, kw_only=True)
class CasesFailed(GoldsmithError):
    """Some cases of a file do not have their expected result."""

    exit_code = 1

    file: str
    failed: int
    cases: int

    def __str__(self) -> str:
        return f"{self.failed} of {self.cases} cases in {self.file} are not as expected."

    @property
    def hint(self) -> str:
        return "Correct the rule, or what the case expects."


@click.group()
def checks() -> None:
    """Checks: list them, explain one, try rules on example rows, evaluate them on datasets."""


@checks.command("list")
@json_option
def list_checks(as_json: bool) -> None:
    """List every check, and the names other tools have for it."""
    from goldsmith.checks.check import CHECKS

    others = _other_names()
    found = [
        {
            "check": name,
            "of": "rows" if check.is_row_check else "dataset",
            "cost": check.cost.value,
            "says": _first_sentence(check),
            "also": others.get(name, []),
        }
        for name, check in CHECKS.all()
    ]

    def text() -> None:
        columns = ["check", "of", "cost", "says"]
        table(columns, [[row[name] for name in columns] for row in found])
        echo(count(len(found), "check") + ". `goldsmith checks show NAME` explains one.")

    show(as_json, found, text)


@checks.command("show")
@click.argument("name")
@json_option
def show_check(name: str, as_json: bool) -> None:
    """Explain a check: its condition, its settings, its names in other tools."""
    from goldsmith.checks.aliases.translate import find
    from goldsmith.checks.check import CHECKS, EVERY_CHECK

    alias = find(name) if name not in CHECKS else None
    check = CHECKS.get(alias.to if alias is not None else name)
    settings = [
        {
            "setting": setting.name,
            "takes": setting.kind,
            "required": setting.is_required,
            "default": setting.default,
        }
        for setting in check.settings.values()
    ]
    every = {setting.name: setting.kind for setting in EVERY_CHECK.values()}
    others = _other_names().get(check.name, [])
    found = {
        "check": check.name,
        "of": "rows" if check.is_row_check else "dataset",
        "cost": check.cost.value,
        "documentation": check.documentation,
        "settings": settings,
        "any_of": list(check.any_of),
        "every_check": every,
        "also": others,
    }

    def text() -> None:
        echo(f"{check.name}: {check.documentation}\n", keep="\n")
        echo(f"Speaks of {found['of']}; measuring it: {check.cost.value}.\n", keep="\n")
        columns = ["setting", "takes", "required", "default"]
        table(columns, [[row[column] for column in columns] for row in settings])
        if check.any_of:
            echo(f"\nAt least one of {', '.join(check.any_of)} must be given.", keep="\n")
        echo(f"Every check also takes {', '.join(every)}.")
        if others:
            echo(f"Also known as {', '.join(others)}.")

    show(as_json, found, text)


def _first_sentence(check: Check) -> str:
    return " ".join(check.documentation.split("\n\n")[0].split())


def _other_names() -> dict[str, list[str]]:
    from goldsmith.checks.aliases.translate import names

    found: dict[str, list[str]] = {}
    for tool, name, alias in names():
        if name != alias.to:
            shown = name if tool == "great_expectations" else f"{tool}.{name}"
            found.setdefault(alias.to, []).append(shown)
    return found


@checks.command("try")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option("--jsonl", is_flag=True, help="Read one JSON case a line, print one result a line.")
@json_option
def try_checks(file: Path | None, jsonl: bool, as_json: bool) -> None:
    """Evaluate checks on rows given in the same file, on real Spark.

    FILE is YAML: a case, or a list of them, each with `schema` (Spark DDL, or left out), `rows`,
    `checks` and the result to `expect` of each. With --jsonl it is one JSON object a line (from
    standard input without FILE) and expectations are ignored.
    """
    from goldsmith.engine.session import local_session

    if jsonl:
        from goldsmith.checks.json_lines import answers

        with _opened(file) as lines, local_session.session() as spark:
            for answer in answers(spark, lines):
                echo(json.dumps(answer, ensure_ascii=False))
        return
    if file is None:
        raise BadRequest(
            sentence="There is nothing to try.", advice="Name a file, or say --jsonl to read cases."
        )
    cases = _cases(file)
    with local_session.session() as spark:
        tried = [_tried(spark, case) for case in cases]
    _show_tried(as_json, file, cases, tried)


def _opened(file: Path | None) -> IO[bytes]:
    if file is None or str(file) == "-":
        return sys.stdin.buffer
    try:
        return file.open("rb")
    except OSError as error:
        raise unreadable(file, error) from error


def _cases(file: Path) -> list[Case]:
    import yaml

    from goldsmith.checks.try_checks import Case

    try:
        document = yaml.safe_load(read_text(file))
    except (yaml.YAMLError, RecursionError) as error:
        raise unreadable(file, error) from error
    listed = document.get("cases", [document]) if isinstance(document, dict) else document
    if not isinstance(listed, list):
        raise BadRequest(sentence=f"{file} holds no cases.", advice="A case has rows and checks.")
    return [Case.of(case) for case in listed]


def _tried(spark: SparkSession, case: Case) -> list[TriedCase] | GoldsmithError:
    from goldsmith.checks.try_checks import evaluate_on_rows

    try:
        return evaluate_on_rows(spark, case)
    except GoldsmithError as error:
        return error


def _show_tried(
    as_json: bool, file: Path, cases: list[Case], tried: list[list[TriedCase] | GoldsmithError]
) -> None:
    found = [
        _found(case, result, number)
        for number, (case, result) in enumerate(zip(cases, tried, strict=True), start=1)
    ]
    wrong = sum(bool(result["surprises"]) for result in found)

    def text() -> None:
        for result in found:
            echo(f"{'✗' if result['surprises'] else '✓'} {result['case']}")
            for verdict in result["verdicts"]:
                outcome = "holds" if verdict["passed"] else f"does not hold: {verdict['message']}"
                echo(f"    {verdict['type']} {outcome}")
            for surprise in result["surprises"]:
                echo(f"    ! {surprise}")

    show(as_json, {"cases": found, "failed": wrong}, text)
    if wrong:
        raise CasesFailed(file=str(file), failed=wrong, cases=len(cases))


def _found(case: Case, tried: list[TriedCase] | GoldsmithError, number: int) -> dict[str, Any]:
    from goldsmith.checks.try_checks import described, surprises

    name = case.says or case.id or f"case {number}"
    if isinstance(tried, GoldsmithError):
        error = described(tried)
        return {"case": name, "verdicts": [], "error": error, "surprises": [error]}
    return {
        "case": name,
        "verdicts": [
            {"type": check.entry.get("type"), **check.as_plain(), "message": check.message}
            for check in tried
        ],
        "error": next((described(check.error) for check in tried if check.error is not None), None),
        "surprises": list(surprises(case, tried)),
    }


for _command in (run_checks, history, suggest, export, import_):
    checks.add_command(_command)
