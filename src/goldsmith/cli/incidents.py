"""`incidents`: failures that did not heal and stale datasets, and who works on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goldsmith.cli.output import (
    CliContext,
    count,
    echo,
    how_many,
    json_option,
    pass_cli,
    show,
    style,
    table,
    whoami,
)
from goldsmith.cli.times import local

if TYPE_CHECKING:
    from goldsmith.journal.healing_tables import Incident


@click.group()
def incidents() -> None:
    """Incidents: failures that healing did not resolve, and stale datasets."""


@incidents.command("list")
@click.option("--all", "closed", is_flag=True, help="Also closed incidents.")
@click.option("--most", type=how_many, default=50, show_default=True, help="How many to show.")
@json_option
@pass_cli
def list_(cli: CliContext, closed: bool, most: int, as_json: bool) -> None:
    """List incidents, the worst first."""
    from goldsmith.journal import incidents as journal

    found = journal.listed(cli.runtime.journal, closed=closed, most=most)
    show(as_json, [incident.as_plain() for incident in found], lambda: _print_list(found))


@incidents.command("show")
@click.argument("incident_id")
@json_option
@pass_cli
def show_(cli: CliContext, incident_id: str, as_json: bool) -> None:
    """Show one incident: cause, remedies tried, affected datasets, what to do."""
    from goldsmith.journal import incidents as journal

    found = journal.get(cli.runtime.journal, incident_id)
    show(as_json, found.as_plain(), lambda: _print_one(found))


@incidents.command()
@click.argument("incident_id")
@json_option
@pass_cli
def ack(cli: CliContext, incident_id: str, as_json: bool) -> None:
    """Acknowledge an incident: record that you work on it."""
    from goldsmith.journal import incidents as journal

    seen = journal.acknowledge(cli.runtime.journal, incident_id, whoami())
    message = f"{seen.incident_id} is looked after by {seen.acknowledged_by}."
    show(as_json, seen.as_plain(), lambda: echo(message))


@incidents.command()
@click.argument("incident_id")
@click.option("--reason", required=True, help="What it was, and what was done.")
@json_option
@pass_cli
def close(cli: CliContext, incident_id: str, reason: str, as_json: bool) -> None:
    """Close an incident. An incident whose stage succeeds again is closed automatically."""
    from goldsmith.journal import incidents as journal

    closed = journal.close(cli.runtime.journal, incident_id, whoami(), reason)
    show(as_json, closed.as_plain(), lambda: echo(f"{closed.incident_id} is closed."))


@incidents.command()
@json_option
@pass_cli
def look(cli: CliContext, as_json: bool) -> None:
    """Find stale datasets, raise severities as data gets older, send notifications.

    `goldsmith run` does the same; this command is for your own timer.
    """
    from goldsmith.worker import incidents as scheduling
    from goldsmith.worker import notifications

    changed = scheduling.update_incidents(cli.runtime)
    sent = notifications.deliver(cli.runtime)
    plain = {"incidents": [incident.as_plain() for incident in changed], "messages": sent}
    says = f"{count(len(changed), 'incident')} opened or risen, {count(sent, 'message')} delivered."
    show(as_json, plain, lambda: echo(says))


def _print_list(found: list[Incident]) -> None:
    if not found:
        echo("No incident is open.")
        return
    heads = ["severity", "status", "since", "about", "error code", "times", "id"]
    table(
        heads,
        [
            [
                incident.severity,
                incident.status,
                local(incident.opened_at),
                incident.about,
                incident.error_code,
                incident.times,
                incident.incident_id,
            ]
            for incident in found
        ],
    )


def _print_one(incident: Incident) -> None:
    echo(style(f"[{incident.severity}] {incident.about}", bold=True) + f"  ({incident.status})")
    lines = [
        ("error", incident.error_code),
        ("cause", incident.cause),
        ("what to do", incident.runbook),
        ("affects", ", ".join(incident.affected) or "no other dataset"),
        ("owner", incident.owner),
        ("run", incident.run_id),
        ("since", local(incident.opened_at)),
        ("looked after by", incident.acknowledged_by),
        ("closed", incident.because),
    ]
    for name, value in lines:
        if value:
            echo(f"  {name}: {value}")
    for tried in incident.tried:
        echo(f"  tried: {tried}")
