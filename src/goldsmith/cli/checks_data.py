"""`checks run|history|suggest|export|import`: evaluate rules, and exchange them with tools."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.output import (
    CliContext,
    count,
    echo,
    how_many,
    json_option,
    pass_cli,
    read_text,
    save_text,
    show,
    style,
    table,
    unreadable,
    write_text,
)
from goldsmith.errors import BadRequest, GoldsmithError

if TYPE_CHECKING:
    from goldsmith.catalog.rules import RuleSet

_TOOLS = ("great-expectations", "dbt")


@dataclass(eq=False, kw_only=True)
class NotImportable(GoldsmithError):
    """A file of another tool contains checks that have no equivalent in Goldsmith."""

    exit_code = 1

    file: str
    unknown: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file} holds what has no meaning here: {' | '.join(self.unknown)}."

    @property
    def hint(self) -> str:
        return (
            "Write those rules by hand (`goldsmith checks list`), and import with --skip-unknown."
        )


@click.command("run")
@click.argument("dataset")
@click.option("--rules", "rule_sets", multiple=True, help="A rule set; may be repeated.")
@json_option
@pass_cli
def run_checks(cli: CliContext, dataset: str, rule_sets: tuple[str, ...], as_json: bool) -> None:
    """Evaluate a dataset's checks on its current rows, and store the verdicts.

    Default: the checks of the stages that write it. Exits 1 if a critical check fails.
    """
    from goldsmith.engine.audit.dataset_audit import audit_dataset
    from goldsmith.planning import dataset_info
    from goldsmith.worker.resources import worker_resources

    runtime = cli.runtime
    rows = runtime.catalog.snapshot()
    dataset_info.find(rows, dataset)
    with worker_resources(runtime) as resources:
        done = audit_dataset(resources, rows, dataset, rule_sets=rule_sets)
    summary = done.summary
    value = {"audit_id": done.audit_id, "dataset": dataset, **summary.as_plain()}

    def text() -> None:
        for result in summary.results:
            mark = style("✓", fg="green") if result.passed else style("✗", fg="red")
            of = f" of {', '.join(result.columns)}" if result.columns else ""
            echo(f"{mark} {result.check_name}{of}: {result.message}")
        echo(
            f"{count(summary.total_checks, 'check')}, {summary.passed} passed, "
            f"{summary.failed} failed, {summary.critical_failures} of them critical."
        )

    show(as_json, value, text)
    if not summary.overall_passed:
        raise click.exceptions.Exit(1)


@click.command("history")
@click.argument("dataset", required=False)
@click.option("--check", "check_name", help="Only this check.")
@click.option("--failed", is_flag=True, help="Only failed checks.")
@click.option("--most", default=20, show_default=True, type=how_many, help="How many to show.")
@json_option
@pass_cli
def history(
    cli: CliContext,
    dataset: str | None,
    check_name: str | None,
    failed: bool,
    most: int,
    as_json: bool,
) -> None:
    """List verdicts, newest first: what each check expected and found."""
    from goldsmith.journal.verdicts import recent

    found = recent(
        cli.runtime.journal, dataset_id=dataset, check_name=check_name, failed=failed, most=most
    )

    def text() -> None:
        table(
            ("at", "dataset", "rule set", "check", "passed", "broken", "says"),
            [
                (
                    str(verdict.at)[:19],
                    verdict.dataset_id,
                    verdict.rule_set_id,
                    verdict.check_name,
                    "yes" if verdict.passed else "no",
                    verdict.broken,
                    verdict.message,
                )
                for verdict in found
            ],
        )

    show(as_json, [verdict.as_plain() for verdict in found], text)


@click.command("suggest")
@click.argument("dataset")
@click.option("--rule-set", "rule_set_id", help="The rule set's id. Default: DATASET_suggested.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@json_option
@pass_cli
def suggest(
    cli: CliContext, dataset: str, rule_set_id: str | None, output: Path | None, as_json: bool
) -> None:
    """Suggest a rule set from a dataset's rows, as YAML to apply, with a reason for each rule."""
    from goldsmith.checks import suggest as suggesting
    from goldsmith.cli.profiles import profile_of

    counts = _scope_of_counts(cli, dataset)
    found = list(suggesting.suggest(profile_of(cli, dataset), counts=counts))
    name = rule_set_id or f"{dataset.replace('.', '_')}_suggested"
    text = suggesting.as_yaml(name, found, dataset)
    if output is not None:
        save_text(output, text)
    suggestions = [{"check": check, "because": reason} for check, reason in found]
    value = {"rule_set_id": name, "suggested": suggestions, "yaml": text}

    def as_text() -> None:
        if output is None:
            write_text(text.rstrip() + "\n")
        else:
            echo(f"{count(len(found), 'rule')} in {output}.")

    show(as_json, value, as_text)


@click.command("export")
@click.argument("rule_set_id", metavar="RULE_SET")
@click.option("--to", "tool", type=click.Choice(_TOOLS), required=True, help="The tool.")
@click.option("--model", help="The dbt model of the tests. Default: the rule set's id.")
@json_option
@pass_cli
def export(cli: CliContext, rule_set_id: str, tool: str, model: str | None, as_json: bool) -> None:
    """Print a rule set as a Great Expectations suite, or as dbt's schema.yml.

    Checks that the tool cannot express are left out and listed on standard error.
    """
    import yaml

    from goldsmith.checks.exchange import dbt, great_expectations

    rules = _rule_set(cli, rule_set_id)
    if tool == "dbt":
        value, left = dbt.schema_of(model or rule_set_id, rules.check_def, severity=rules.severity)
        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    else:
        value, left = great_expectations.suite_of(
            rule_set_id, rules.check_def, severity=rules.severity
        )
        text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    for check in left:
        echo(f"Left out: {check}, which {tool} cannot say alike.", err=True)
    show(as_json, value, lambda: write_text(text.rstrip() + "\n"))


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--rule-set", "rule_set_id", help="The rule set's id. Default: the name in the file.")
@click.option(
    "--skip-unknown", is_flag=True, help="Leave out checks without an equivalent, and list them."
)
@json_option
def import_(file: Path, rule_set_id: str | None, skip_unknown: bool, as_json: bool) -> None:
    """Print the rule sets of a Great Expectations suite or of dbt's schema.yml, as YAML.

    A file with checks that have no equivalent in Goldsmith is refused, and each is named.
    """
    import yaml

    from goldsmith.checks.exchange import dbt, great_expectations

    try:
        document = yaml.safe_load(read_text(file))  # JSON is YAML too
    except (yaml.YAMLError, RecursionError) as error:
        raise unreadable(file, error) from error
    if not isinstance(document, dict) or not ({"expectations", "models"} & document.keys()):
        raise BadRequest(
            sentence=f"{file} is neither a suite nor a schema.yml.",
            advice="A suite of Great Expectations has `expectations`, dbt's schema.yml `models`.",
        )
    _refuse_no_mappings(file, document)
    if "expectations" in document:
        name = rule_set_id or str(document.get("name") or document.get("expectation_suite_name"))
        checks, unknown = great_expectations.checks_of(document)
        found = {name: checks}
    else:
        found, unknown = dbt.checks_of(document)
        if rule_set_id is not None:
            if len(found) > 1:
                raise BadRequest(
                    sentence=f"{file} has {len(found)} models, and --rule-set names one.",
                    advice="Leave --rule-set out: each model becomes a rule set of its name.",
                )
            found = {rule_set_id: next(iter(found.values()), [])}
    if unknown and not skip_unknown:
        raise NotImportable(file=str(file), unknown=tuple(unknown))
    for unknown_name in unknown:
        echo(f"Left out: {unknown_name}.", err=True)
    rows: list[dict[str, Any]] = [
        {"rule_set_id": name, "check_def": checks} for name, checks in found.items()
    ]
    value = {"validation_rules": rows}
    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    show(as_json, value, lambda: write_text(text.rstrip() + "\n"))


def _refuse_no_mappings(file: Path, document: dict[str, Any]) -> None:
    """Raise if the list of the file contains anything but objects."""
    key = "expectations" if "expectations" in document else "models"
    listed = document[key] or []
    if isinstance(listed, list) and all(isinstance(entry, dict) for entry in listed):
        return
    raise BadRequest(
        sentence=f"`{key}` of {file} has to be a list of objects.",
        advice="`goldsmith checks export RULE_SET --to …` prints a file as it has to look.",
    )


def _scope_of_counts(cli: CliContext, dataset: str) -> str | None:
    """The check scope that sees all rows of the dataset; None if no scope does."""
    from goldsmith.planning.resolved_stage import is_lake, keeps_rows
    from goldsmith.planning.stage_context import dataset_of

    found = dataset_of(dataset, cli.runtime.catalog.snapshot())
    if found.writers and is_lake(found.target):
        return "table"
    replaced = bool(found.writers) and not any(keeps_rows(stage) for stage in found.writers)
    return "batch" if replaced else None


def _rule_set(cli: CliContext, rule_set_id: str) -> RuleSet:
    from goldsmith.catalog.rules import RuleSet
    from goldsmith.engine.audit.dataset_audit import UnknownRuleSet

    known = cli.runtime.catalog.snapshot().table(RuleSet)
    found = known.get((rule_set_id,))
    if found is None:
        listed = tuple(sorted(key[0] for key in known))
        raise UnknownRuleSet(rule_set_id=rule_set_id, known=listed)
    return found
