"""`why`: the reason something runs, waits, was stopped or failed."""

from __future__ import annotations

from collections.abc import Iterator

import click

from goldsmith.cli.output import CliContext, echo, json_option, pass_cli, show, style
from goldsmith.cli.times import local
from goldsmith.journal.reason import Answer
from goldsmith.journal.reasons import why as ask

#: Texts of more characters are printed once.
_LONG = 60


@click.command()
@click.argument("entity", metavar="ENTITY|RUN")
@json_option
@pass_cli
def why(cli: CliContext, entity: str, as_json: bool) -> None:
    """Explain why something runs, waits, was stopped, failed, is blocked or never ran.

    ENTITY is pipeline:ID, stage:ID-ORDER, dataset:ID, everything, or the id of a run or a
    request. A name without a prefix is a pipeline, else a dataset.
    """
    answer = ask(cli.runtime.catalog_url, entity)
    show(as_json, answer.as_plain(), lambda: _print(answer))


def _print(answer: Answer) -> None:
    echo(f"{style(answer.subject, bold=True)} ({answer.state}): {answer.because}")
    shown = [answer.because]
    for reason in answer.reasons:
        when = style(local(reason.at).ljust(19), dim=True)
        echo(f"  {when}  {_without_repeated_error(reason.says, shown)}")
        shown.append(reason.says)


def _without_repeated_error(text: str, shown: list[str]) -> str:
    """The sentence without a long error message that was already printed."""
    for error in sorted({error for earlier in shown for error in _errors_in(earlier)}, key=len)[
        ::-1
    ]:
        before, found, after = text.partition(error)
        if found:
            return f"{before.removesuffix(': ')}{after.removeprefix('.') or '.'}"
    return text


def _errors_in(text: str) -> Iterator[str]:
    """The long texts after a colon that can be error messages; their codes stay in sentences."""
    parts = text.rstrip(".").split(": ")
    for index in range(1, len(parts)):
        error = ": ".join(parts[index:])
        if " " in parts[index] and len(error) >= _LONG:
            yield error
