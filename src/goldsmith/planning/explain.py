"""Show a plan as text or JSON: every default used, and why each stage runs or does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

from goldsmith.checks.aliases.translate import find
from goldsmith.checks.check import CHECKS, Cost
from goldsmith.planning.input_selection import InputRead
from goldsmith.planning.integrity.finding import FindingSeverity
from goldsmith.planning.plan import Plan, PlannedStage, StageDecision
from goldsmith.planning.remedies import may_act, remedy_lines
from goldsmith.planning.resolved_stage import defaults_of, is_lake, lake_name
from goldsmith.planning.spark_text import as_spark
from goldsmith.planning.stage_context import Dataset, StageContext

if TYPE_CHECKING:
    from goldsmith.journal.runs import Expected

#: Translates a location in the catalog to its address in this environment.
Address = Callable[[str], str]


def as_plain(plan: Plan, address: Address) -> dict[str, Any]:
    """A plan as plain values for JSON."""
    return {
        "revision": plan.revision,
        "environment": plan.environment,
        "made_at": plan.made_at.isoformat(),
        "selection": list(plan.selection),
        "stages": [_stage(stage, plan, address) for stage in plan.stages],
        "findings": [finding.as_plain() for finding in plan.findings],
    }


def _stage(planned: PlannedStage, plan: Plan, address: Address) -> dict[str, Any]:
    context = planned.context
    resolved = context.resolved
    return {
        "stage_id": context.stage_id,
        "pipeline_id": context.stage.pipeline_id,
        "stage_order": context.stage.stage_order,
        "stage_name": context.stage.stage_name,
        "fate": planned.fate.value,
        "because": planned.because,
        "reasons": _reasons(planned),
        "after": list(planned.after),
        "layer": resolved.layer,
        "inputs": _inputs(planned, address),
        "target": _target(context, address),
        "sql": resolved.sql,
        "sql_as_run": _sql_as_run(context),
        "write_mode": resolved.write_mode,
        "keys": list(context.stage.keys),
        "partition_by": list(context.stage.partition_by),
        "watermark_column": context.stage.watermark_column,
        "schema_policy": dict(resolved.schema_policy),
        "checks": list(checks_of(context)),
        "retry": _retry(context),
        "remedies": [asdict(remedy) for remedy in may_act(context, plan.pairs)],
        "timeout_sec": context.stage.timeout_sec,
        "defaults": {
            name: {"value": value, "because": why}
            for name, (value, why) in defaults_of(context.stage, resolved).items()
        },
        "expected": _expected(planned.expected),
    }


def _reasons(planned: PlannedStage) -> list[str]:
    return [] if planned.selection is None else [why.code for why in planned.selection.reasons]


def _inputs(planned: PlannedStage, address: Address) -> list[dict[str, Any]]:
    if planned.selection is not None and planned.selection.inputs:
        return [_input_read(item) for item in planned.selection.inputs]
    context = planned.context
    return [
        {
            "dataset_id": dataset.dataset_id,
            "read": read_of(context, index),
            "location": dataset.location,
            "address": _address(dataset.location, address),
        }
        for index, dataset in enumerate(context.inputs)
    ]


def _input_read(item: InputRead) -> dict[str, Any]:
    return {
        "dataset_id": item.dataset_id,
        "kind": item.kind,
        "read": item.read,
        "location": item.location,
        "address": item.address,
        "files": item.files,
        "bytes": item.bytes,
        "since": item.since,
        "until": item.until,
        "empty": item.empty,
        "says": "; ".join(why.sentence for why in item.reasons),
    }


def read_of(context: StageContext, index: int) -> str:
    """Which rows of an input are read: the stage's `read` for the first, `all` for look-ups."""
    return context.resolved.read if index == 0 else "all"


def _target(context: StageContext, address: Address) -> dict[str, Any] | None:
    if context.target is None or context.target.target is None:
        return None
    target = context.target.target
    facts: dict[str, Any] = {
        "dataset_id": target.target_id,
        "type": target.type,
        "location": target.location,
        "address": _address(target.location, address),
    }
    if is_lake(target):
        facts["table"] = lake_name(target.target_id, context.resolved.layer)
    return facts


def _address(location: str | None, address: Address) -> str | None:
    if location is None or not location.startswith("s3://"):
        return location
    return address(location)


def _sql_as_run(context: StageContext) -> str | None:
    if context.resolved.sql is None or context.facts is None or context.facts.error is not None:
        return None
    return as_spark(context.resolved.sql, context.resolved.dialect)


def _retry(context: StageContext) -> dict[str, Any] | None:
    if context.retry is None:
        return None
    return {"retry_id": context.retry.retry_id, "max_retries": context.retry.max_retries}


def _expected(expected: Expected | None) -> dict[str, Any] | None:
    if expected is None:
        return None
    return {
        "rows": expected.rows,
        "bytes": expected.bytes,
        "seconds": expected.seconds,
        "from_runs": expected.from_runs,
    }


def checks_of(context: StageContext) -> Iterator[Mapping[str, Any]]:
    """The checks of a stage, before and after its transforms, with their defaults."""
    for when, rules in (("before", context.pre_rules), ("after", context.rules)):
        if rules is None:
            continue
        for check in rules.check_def:
            yield {
                "when": when,
                "rule_set_id": rules.rule_set_id,
                "severity": rules.severity,
                "on_fail": "fail",
                "cost": Cost.PASS if check.get("per") else cost_of(str(check.get("type"))),
                **check,
            }


@cache
def cost_of(check: str) -> str | None:
    """The cost of evaluating a check, found by its name here or in another tool."""
    alias = find(check)
    name = check if alias is None else alias.to
    return CHECKS.get(name).cost.value if name in CHECKS else None


def as_lines(plan: Plan, *, verbose: bool, most: int) -> Iterator[str]:
    """A plan as lines of text."""
    for finding in plan.findings:
        if finding.gravity is FindingSeverity.WARNING:
            yield f"warning: {finding.sentence} [{finding.code}]"
    for planned in plan.stages[:most]:
        yield from _lines(planned)
        if verbose:
            yield from _more_lines(planned)
            yield from remedy_lines(planned.context, plan.pairs)
    if len(plan.stages) > most:
        yield f"… and {len(plan.stages) - most:,} more stages; select some, or use --json."
    counts = {fate: len(plan.of(fate)) for fate in StageDecision}
    summary = ", ".join(
        _counted(number, *_FATES[fate]) for fate, number in counts.items() if number
    )
    pipelines = len({planned.context.stage.pipeline_id for planned in plan.stages})
    yield (
        f"{_counted(len(plan.stages), 'stage', 'stages')} of "
        f"{_counted(pipelines, 'pipeline', 'pipelines')}: {summary or 'nothing to do'}. "
        f"Environment {plan.environment}, catalog revision {plan.revision}."
    )


def _counted(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"


_FATES = {
    StageDecision.RUN: ("will run", "will run"),
    StageDecision.READY: ("may run", "may run"),
    StageDecision.SKIP: ("has nothing new", "have nothing new"),
    StageDecision.LEFT_OUT: ("is left out", "are left out"),
    StageDecision.STOPPED: ("is stopped", "are stopped"),
    StageDecision.BLOCKED: ("is blocked", "are blocked"),
}
_MARKS = {
    StageDecision.RUN: "▶",
    StageDecision.READY: "?",
    StageDecision.SKIP: "·",
    StageDecision.LEFT_OUT: "-",
    StageDecision.STOPPED: "■",
    StageDecision.BLOCKED: "▪",
}


def _lines(planned: PlannedStage) -> Iterator[str]:
    context, resolved = planned.context, planned.context.resolved
    inputs = " + ".join(dataset.dataset_id for dataset in context.inputs) or "nothing"
    name = f" {context.stage.stage_name}" if context.stage.stage_name else ""
    yield (
        f"{_MARKS[planned.fate]} {context.stage_id}{name}"
        f" ({resolved.layer}, {resolved.write_mode}): {inputs} → {context.stage.target_id}"
    )
    yield f"    {planned.fate.replace('_', ' ')}: {planned.because}"


def _more_lines(planned: PlannedStage) -> Iterator[str]:
    context, resolved = planned.context, planned.context.resolved
    for item in () if planned.selection is None else planned.selection.inputs:
        yield f"    reads {item.read} of {item.dataset_id} ({item.kind}) at {item.address}"
    for line in (_sql_as_run(context) or "all columns, unchanged").splitlines():
        yield f"    | {line}"
    for check in checks_of(context):
        settings = {k: v for k, v in check.items() if k not in ("when", "rule_set_id", "type")}
        arguments = ", ".join(f"{key}: {value}" for key, value in settings.items())
        yield f"    checks {check.get('type')} {check['when']} shaping ({arguments})"
    for key, (value, why) in defaults_of(context.stage, resolved).items():
        yield f"    default {key}: {value}, because {why}"
    if planned.expected is not None and planned.expected.from_runs:
        yield f"    expects {_expected_text(planned.expected)}"


def _expected_text(expected: Expected) -> str:
    parts = [
        f"{expected.rows:,.0f} rows" if expected.rows is not None else "",
        f"{expected.bytes / 1e6:,.1f} MB" if expected.bytes is not None else "",
        f"{expected.seconds:,.1f} s" if expected.seconds is not None else "",
    ]
    summary = ", ".join(part for part in parts if part)
    return f"{summary or 'nothing known'} (median of {expected.from_runs} runs)"


def dataset_kind(dataset: Dataset) -> str:
    """How a dataset is read: its `files`, its lake `table`, or a `warehouse` table."""
    if dataset.source is not None and not dataset.writers:
        return "files"
    return "table" if is_lake(dataset.target) else "warehouse"
