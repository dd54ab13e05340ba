"""`checks run|history|suggest|export|import`: rules put to data, and carried to other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import Door, count, json_option, pass_door, show, table
from goldsmith.errors import BadRequest

if TYPE_CHECKING:
    from goldsmith.catalog.rules import RuleSet

_TOOLS = ("great-expectations", "dbt")


@click.command("run")
@click.argument("dataset")
@click.option("--rules", "rule_sets", multiple=True, help="A rule set; may be said again.")
@json_option
@pass_door
def run_checks(door: Door, dataset: str, rule_sets: tuple[str, ...], as_json: bool) -> None:
    """Put a dataset's checks to the rows it has now, and write the verdicts down.

    Without --rules they are those of the stages that write it. Exits 1 where a critical one fails.
    """
    from goldsmith.engine.resting import audit_dataset
    from goldsmith.planning import holdings
    from goldsmith.scheduling.workshop import workshop

    runtime = door.runtime
    rows = runtime.catalog.snapshot()
    holdings.find(rows, dataset)
    with workshop(runtime) as tools:
        done = audit_dataset(tools, rows, dataset, rule_sets=rule_sets)
    summary = done.summary
    value = {"audit_id": done.audit_id, "dataset": dataset, **summary.as_plain()}

    def text() -> None:
        for result in summary.results:
            mark = click.style("✓", fg="green") if result.passed else click.style("✗", fg="red")
            click.echo(f"{mark} {result.check_name}: {result.message}")
        click.echo(
            f"{count(summary.total_checks, 'check')}, {summary.passed} passed, "
            f"{summary.failed} failed, {summary.critical_failures} of them critical."
        )

    show(as_json, value, text)
    if not summary.overall_passed:
        raise click.exceptions.Exit(1)


@click.command("history")
@click.argument("dataset", required=False)
@click.option("--check", "check_name", help="Only this check.")
@click.option("--failed", is_flag=True, help="Only those that did not hold.")
@click.option("--most", default=20, show_default=True, type=click.IntRange(min=1), help="How many.")
@json_option
@pass_door
def history(
    door: Door,
    dataset: str | None,
    check_name: str | None,
    failed: bool,
    most: int,
    as_json: bool,
) -> None:
    """List verdicts, newest first: what each check expected and found."""
    from goldsmith.journal.verdicts import recent

    found = recent(
        door.runtime.journal, dataset_id=dataset, check_name=check_name, failed=failed, most=most
    )

    def text() -> None:
        table(
            ("at", "dataset", "rule set", "check", "passed", "broken", "says"),
            [
                (
                    str(one.at)[:19],
                    one.dataset_id,
                    one.rule_set_id,
                    one.check_name,
                    "yes" if one.passed else "no",
                    one.broken,
                    one.message,
                )
                for one in found
            ],
        )

    show(as_json, [one.as_plain() for one in found], text)


@click.command("suggest")
@click.argument("dataset")
@click.option("--rule-set", "rule_set_id", help="The rule set's id; else DATASET_suggested.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@json_option
@pass_door
def suggest(
    door: Door, dataset: str, rule_set_id: str | None, output: Path | None, as_json: bool
) -> None:
    """Propose a rule set from a dataset's rows, as YAML ready to apply, a reason for each rule."""
    from goldsmith.checks import suggest as suggesting
    from goldsmith.cli.profiles import profile_of

    found = list(suggesting.suggest(profile_of(door, dataset)))
    name = rule_set_id or f"{dataset.replace('.', '_')}_suggested"
    text = suggesting.as_yaml(name, found, dataset)
    if output is not None:
        output.write_text(text, encoding="utf-8")
    told = [{"check": check, "because": reason} for check, reason in found]
    value = {"rule_set_id": name, "suggested": told, "yaml": text}
    said = text.rstrip() if output is None else f"{count(len(found), 'rule')} in {output}."
    show(as_json, value, lambda: click.echo(said))


@click.command("export")
@click.argument("rule_set_id", metavar="RULE_SET")
@click.option("--to", "tool", type=click.Choice(_TOOLS), required=True, help="The tool.")
@click.option("--model", help="The model dbt's tests are of; else the rule set's id.")
@json_option
@pass_door
def export(door: Door, rule_set_id: str, tool: str, model: str | None, as_json: bool) -> None:
    """Print a rule set as a Great Expectations suite, or as dbt's schema.yml.

    What the tool cannot say is left out and told on standard error.
    """
    import yaml

    from goldsmith.checks.exchange import dbt, great_expectations

    rules = _rule_set(door, rule_set_id)
    if tool == "dbt":
        value, left = dbt.schema_of(model or rule_set_id, rules.check_def)
        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    else:
        value, left = great_expectations.suite_of(rule_set_id, rules.check_def)
        text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    for check in left:
        click.echo(f"Left out: {check}, which {tool} cannot say alike.", err=True)
    show(as_json, value, lambda: click.echo(text.rstrip()))


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--rule-set", "rule_set_id", help="The rule set's id; else what the file says.")
@json_option
def import_(file: Path, rule_set_id: str | None, as_json: bool) -> None:
    """Print the rule sets that a Great Expectations suite or dbt's schema.yml means, as YAML."""
    import yaml

    from goldsmith.checks.exchange import dbt, great_expectations

    try:
        said = yaml.safe_load(file.read_text(encoding="utf-8"))  # JSON is YAML too
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadRequest(sentence=f"{file} cannot be read: {error}") from error
    if not isinstance(said, dict) or not ({"expectations", "models"} & said.keys()):
        raise BadRequest(sentence=f"{file} is neither a suite nor a schema.yml.")
    if "expectations" in said:
        name = rule_set_id or str(said.get("name") or said.get("expectation_suite_name"))
        found = {name: great_expectations.checks_of(said)}
    else:
        found = dbt.checks_of(said)
    rows: list[dict[str, Any]] = [
        {"rule_set_id": name, "check_def": checks} for name, checks in found.items()
    ]
    value = {"validation_rules": rows}
    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    show(as_json, value, lambda: click.echo(text.rstrip()))


def _rule_set(door: Door, rule_set_id: str) -> RuleSet:
    from goldsmith.catalog.rules import RuleSet
    from goldsmith.engine.resting import UnknownRuleSet

    known = door.runtime.catalog.snapshot().table(RuleSet)
    found = known.get((rule_set_id,))
    if found is None:
        listed = tuple(sorted(key[0] for key in known))
        raise UnknownRuleSet(rule_set_id=rule_set_id, known=listed)
    return found
