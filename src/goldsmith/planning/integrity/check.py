"""Look for everything that is wrong: stage by stage, table by table, and over all stages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Finding, Rule
from goldsmith.planning.neighbourhood import Neighbourhood
from goldsmith.registry import Registry

FINDINGS = Registry("finding", package="goldsmith.planning.integrity.findings", kind=Rule)


class Rules(NamedTuple):
    """Every finding, by what it looks at."""

    stage: tuple[Rule, ...]
    catalog: tuple[Rule, ...]
    graph: tuple[Rule, ...]


@cache
def rules() -> Rules:
    """Every finding, loaded once."""
    known = [rule for _name, rule in FINDINGS.all()]
    return Rules(
        stage=tuple(rule for rule in known if rule.reads is None and not rule.is_graph),
        catalog=tuple(rule for rule in known if rule.reads is not None),
        graph=tuple(rule for rule in known if rule.is_graph),
    )


def stage_findings(near: Neighbourhood) -> list[Finding]:
    """What is wrong with one stage and the rows around it."""
    return [rule.finding(wrong) for rule in rules().stage for wrong in rule.look(near)]


def catalog_findings(rows: Snapshot) -> list[Finding]:
    """What is wrong with the rows of whole tables."""
    return [finding for rule in rules().catalog for finding in rule.findings(rows)]


def graph_findings(rows: Snapshot, stages: Mapping[str, Neighbourhood]) -> list[Finding]:
    """What is wrong with how stages feed each other."""
    return [finding for rule in rules().graph for finding in rule.findings(rows, stages)]
