"""`why`: the reason something runs, waits, was stopped or failed."""

from __future__ import annotations

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
    """The sentence, cut before a long error message that was already printed."""
    parts = text.split(": ")
    for index in range(1, len(parts)):
        if " " not in parts[index]:
            continue  # the error's code stays
        error = ": ".join(parts[index:])
        if len(error) >= _LONG and any(error in earlier for earlier in shown):
            return f"{': '.join(parts[:index])}."
    return text
