"""Which remedies may loosen a stage's checks, schema policy or other settings, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.planning.integrity.remedies import (
    OUTSIDE,
    allowed_by,
    kind_of,
    loosening,
    needs_permission,
)
from goldsmith.planning.stage_context import StageContext

_FROM_OUTSIDE = "does what it answers"


_NO_RETRIES = "the stage has no retry policy, so nothing is tried again"


@dataclass(frozen=True, kw_only=True, slots=True)
class MayAct:
    """Whether a remedy that loosens a stage's settings may act on the stage."""

    error_code: str
    remedy: str
    #: What the remedy does.
    does: str
    may_act: bool
    because: str


def may_act(
    context: StageContext, pairs: Iterable[HealingAction | HealingStep]
) -> Iterator[MayAct]:
    """Every enabled remedy that could loosen a stage's settings, by error code and step."""
    allowed = allowed_by(context.stage.options)
    ordered = sorted(pairs, key=lambda row: (row.error_code, getattr(row, "step_order", 1)))
    for row in ordered:
        remedy = str(row.action_script)
        is_outside = kind_of(remedy) in (*OUTSIDE, "plugin")
        if not row.enabled or not (is_outside or remedy in loosening()):
            continue
        if context.retry is None:
            may, because = False, _NO_RETRIES
        elif remedy in allowed:
            may, because = True, "options.remedies of the stage names it"
        elif needs_permission(row):
            may, because = False, "options.remedies of the stage does not name it"
        elif remedy == "evolve_schema" and _keeps_its_policy(context, row):
            may, because = False, "the stage's row has a schema_policy of its own"
        else:
            may, because = True, f"the row in {row.table.name} for {row.error_code} names it"
        yield MayAct(
            error_code=row.error_code,
            remedy=remedy,
            does=loosening().get(remedy, _FROM_OUTSIDE),
            may_act=may,
            because=because,
        )


def _keeps_its_policy(context: StageContext, row: HealingAction | HealingStep) -> bool:
    return context.stage.schema_policy is not None and not row.settings.get("even_if_frozen")


def remedy_lines(
    context: StageContext, pairs: Iterable[HealingAction | HealingStep]
) -> Iterator[str]:
    """`may_act` as lines: one for each remedy that may act, one for each reason of a refusal."""
    refused: dict[str, dict[str, list[str]]] = {}
    for remedy in may_act(context, pairs):
        if remedy.may_act:
            what = f"{remedy.remedy} may act on {remedy.error_code}: it {remedy.does}"
            yield f"    remedy {what} ({remedy.because})"
        else:
            refused.setdefault(remedy.because, {}).setdefault(remedy.remedy, []).append(
                remedy.error_code
            )
    if refused.pop(_NO_RETRIES, None):
        yield f"    no remedy acts: {_NO_RETRIES}"
    for because, remedies in refused.items():
        listed = ", ".join(f"{name} ({', '.join(codes)})" for name, codes in remedies.items())
        yield f"    remedies that may not act: {listed}: {because}"
