"""`incidents`: what did not heal or went stale, and who looks after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goldsmith.cli.output import Door, count, json_option, pass_door, show, table, whoami
from goldsmith.cli.times import local

if TYPE_CHECKING:
    from goldsmith.journal.tables_of_healing import Incident


@click.group()
def incidents() -> None:
    """What people have to see to: failures that did not heal, datasets gone stale."""


@incidents.command("list")
@click.option("--all", "closed", is_flag=True, help="Those that are closed as well.")
@click.option("--most", default=50, show_default=True, help="How many to show.")
@json_option
@pass_door
def list_(door: Door, closed: bool, most: int, as_json: bool) -> None:
    """List incidents, the worst first."""
    from goldsmith.journal import incidents as journal

    found = journal.listed(door.runtime.journal, closed=closed, most=most)
    show(as_json, [one.as_plain() for one in found], lambda: _print_list(found))


@incidents.command("show")
@click.argument("incident_id")
@json_option
@pass_door
def show_(door: Door, incident_id: str, as_json: bool) -> None:
    """Show one incident: cause, what was tried, what it affects, what to do."""
    from goldsmith.journal import incidents as journal

    found = journal.get(door.runtime.journal, incident_id)
    show(as_json, found.as_plain(), lambda: _print_one(found))


@incidents.command()
@click.argument("incident_id")
@json_option
@pass_door
def ack(door: Door, incident_id: str, as_json: bool) -> None:
    """Say that you look after an incident."""
    from goldsmith.journal import incidents as journal

    seen = journal.acknowledge(door.runtime.journal, incident_id, whoami())
    said = f"{seen.incident_id} is looked after by {seen.acknowledged_by}."
    show(as_json, seen.as_plain(), lambda: click.echo(said))


@incidents.command()
@click.argument("incident_id")
@click.option("--reason", required=True, help="What it was, and what was done.")
@json_option
@pass_door
def close(door: Door, incident_id: str, reason: str, as_json: bool) -> None:
    """Close an incident. One whose stage passes again is closed by itself."""
    from goldsmith.journal import incidents as journal

    closed = journal.close(door.runtime.journal, incident_id, whoami(), reason)
    show(as_json, closed.as_plain(), lambda: click.echo(f"{closed.incident_id} is closed."))


@incidents.command()
@json_option
@pass_door
def look(door: Door, as_json: bool) -> None:
    """Look for datasets gone stale, let incidents rise with the age of data, tell people.

    `goldsmith run` does the same; this is for a timer of your own.
    """
    from goldsmith.scheduling import incidents as scheduling
    from goldsmith.scheduling import notifying

    changed = scheduling.keep_up(door.runtime)
    told = notifying.deliver(door.runtime)
    plain = {"incidents": [one.as_plain() for one in changed], "messages": told}
    says = f"{count(len(changed), 'incident')} opened or risen, {count(told, 'message')} delivered."
    show(as_json, plain, lambda: click.echo(says))


def _print_list(found: list[Incident]) -> None:
    if not found:
        click.echo("No incident is open.")
        return
    heads = ["severity", "status", "since", "about", "error code", "times", "id"]
    table(
        heads,
        [
            [
                one.severity,
                one.status,
                local(one.opened_at),
                one.about,
                one.error_code,
                one.times,
                one.incident_id,
            ]
            for one in found
        ],
    )


def _print_one(one: Incident) -> None:
    click.echo(click.style(f"[{one.severity}] {one.about}", bold=True) + f"  ({one.status})")
    lines = [
        ("error", one.error_code),
        ("cause", one.cause),
        ("what to do", one.runbook),
        ("affects", ", ".join(one.affected) or "no other dataset"),
        ("owner", one.owner),
        ("run", one.run_id),
        ("since", local(one.opened_at)),
        ("looked after by", one.acknowledged_by),
        ("closed", one.because),
    ]
    for name, said in lines:
        if said:
            click.echo(f"  {name}: {said}")
    for tried in one.tried:
        click.echo(f"  tried: {tried}")
