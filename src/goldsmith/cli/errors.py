"""`errors`: error codes, their meaning, and the code of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

import click

from goldsmith.cli.output import (
    MOST_BYTES,
    CliContext,
    TooLarge,
    echo,
    json_option,
    pass_cli,
    show,
    style,
    table,
)

if TYPE_CHECKING:
    from goldsmith.healing.codes import ErrorCode


@click.group()
def errors() -> None:
    """Error codes: their meaning, and what to do."""


@errors.command("list")
@click.option("--family", help="Only codes of one family: source, data, sql, warehouse …")
@click.option("--seen", is_flag=True, help="Only codes that stages failed with, and how often.")
@json_option
@pass_cli
def list_(cli: CliContext, family: str | None, seen: bool, as_json: bool) -> None:
    """List the codes, their meaning, and whether the error may pass by itself."""
    from goldsmith.healing.codes import codes

    counted = _counted(cli) if seen else {}
    chosen = [
        code
        for code in codes().values()
        if (family is None or code.family == family) and (not seen or code.name in counted)
    ]
    plain = [{**code.as_plain(), **_times(counted, code)} for code in chosen]
    show(as_json, plain, lambda: _print_list(chosen, counted if seen else None))


@errors.command()
@click.argument("code")
@json_option
@pass_cli
def explain(cli: CliContext, code: str, as_json: bool) -> None:
    """Explain a code: its meaning, what to do, and its remedies in this project."""
    from goldsmith.healing.codes import code as named

    found = named(code)
    pairs = _pairs(cli, code)
    show(as_json, {**found.as_plain(), "remedies": pairs}, lambda: _print_one(found, pairs))


@errors.command()
@click.argument("file", type=click.File("r", encoding="utf-8", errors="replace"))
@json_option
def classify(file: TextIO, as_json: bool) -> None:
    """Find the error code of a log or a stack trace; - reads standard input."""
    from goldsmith.healing.classify import classify_text

    text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise TooLarge(file=file.name, megabytes=MOST_BYTES >> 20)
    found = classify_text(text)
    plain = {**found.code.as_plain(), "also": list(found.also)}
    show(as_json, plain, lambda: _print_classified(found.code, found.also))


def _counted(cli: CliContext) -> dict[str, int]:
    from goldsmith.journal.stage_runs import failures_by_code

    return failures_by_code(cli.runtime.journal)


def _times(counted: dict[str, int], code: ErrorCode) -> dict[str, int]:
    return {"failures": counted[code.name]} if code.name in counted else {}


def _pairs(cli: CliContext, code: str) -> list[dict[str, Any]]:
    """The remedies of a code in this project; without a project, the shipped ones."""
    from goldsmith.catalog.defaults import shipped
    from goldsmith.catalog.retries import HealingAction, HealingStep
    from goldsmith.settings.errors import NoProject

    try:
        rows = cli.runtime.catalog.snapshot().rows
        found: list[HealingAction | HealingStep] = [*rows(HealingAction), *rows(HealingStep)]
    except NoProject:
        found = [row for row in shipped() if isinstance(row, HealingAction | HealingStep)]
    return [row.as_file() for row in found if row.error_code == code]


def _print_list(chosen: list[ErrorCode], counted: dict[str, int] | None) -> None:
    heads = ["code", "family", "may pass", "cause"]
    rows: list[list[Any]] = [
        [code.name, code.family, "yes" if code.may_pass else "no", code.cause] for code in chosen
    ]
    if counted is not None:
        heads.insert(1, "failures")
        for row in rows:
            row.insert(1, counted[row[0]])
    table(heads, rows)


def _print_one(code: ErrorCode, pairs: list[dict[str, Any]]) -> None:
    echo(style(code.name, bold=True) + f"  ({code.family})")
    echo(f"  {code.cause}")
    echo(f"  {code.advice}")
    passes = "It may pass by itself." if code.may_pass else "It does not pass by itself."
    echo(f"  {passes}")
    if pairs:
        tried = ", then ".join(map(_remedy, pairs))
        echo(f"  Remedies: {tried}.")


def _remedy(pair: dict[str, Any]) -> str:
    leave = pair.get("settings", {}).get("only_where_allowed")
    return f"{pair.get('action_script')}{' (where options.remedies names it)' if leave else ''}"


def _print_classified(code: ErrorCode, also: tuple[str, ...]) -> None:
    echo(style(code.name, bold=True) + f": {code.cause}")
    echo(f"  {code.advice}")
    if also:
        echo(f"  It also looks like {', '.join(also)}.")
