"""Run all findings: on each stage, on whole tables, and on the graph of stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import Finding, Rule
from goldsmith.planning.stage_context import StageContext
from goldsmith.registry import Registry

FINDINGS = Registry("finding", package="goldsmith.planning.integrity.findings", kind=Rule)


class Rules(NamedTuple):
    """All rules, by what they check: a stage, whole tables, or the graph of stages."""

    stage: tuple[Rule, ...]
    catalog: tuple[Rule, ...]
    graph: tuple[Rule, ...]


@cache
def rules() -> Rules:
    """All rules, loaded once."""
    known = [rule for _name, rule in FINDINGS.all()]
    return Rules(
        stage=tuple(rule for rule in known if rule.reads is None and not rule.is_graph),
        catalog=tuple(rule for rule in known if rule.reads is not None),
        graph=tuple(rule for rule in known if rule.is_graph),
    )


def stage_findings(stages: Sequence[StageContext]) -> dict[str, list[Finding]]:
    """The findings about each of these stages and its context, by stage id."""
    found: dict[str, list[Finding]] = {}
    for rule in rules().stage:
        look = rule.look
        for context in stages:
            for wrong in look(context):
                found.setdefault(context.stage_id, []).append(rule.finding(wrong))
    return found


def catalog_findings(rows: CatalogRows) -> list[Finding]:
    """The findings about whole tables."""
    return [finding for rule in rules().catalog for finding in rule.findings(rows)]


def graph_findings(rows: CatalogRows, stages: Mapping[str, StageContext]) -> list[Finding]:
    """The findings about the graph of stages."""
    return [finding for rule in rules().graph for finding in rule.findings(rows, stages)]
