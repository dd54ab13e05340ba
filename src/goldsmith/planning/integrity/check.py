"""Look for everything that is wrong: stage by stage, table by table, and over all stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def stage_findings(stages: Sequence[Neighbourhood]) -> dict[str, list[Finding]]:
    """What is wrong with each of some stages and the rows around it, by stage id."""
    found: dict[str, list[Finding]] = {}
    for rule in rules().stage:
        look = rule.look
        for near in stages:
            for wrong in look(near):
                found.setdefault(near.stage_id, []).append(rule.finding(wrong))
    return found


def catalog_findings(rows: Snapshot) -> list[Finding]:
    """What is wrong with the rows of whole tables."""
    return [finding for rule in rules().catalog for finding in rule.findings(rows)]


def graph_findings(rows: Snapshot, stages: Mapping[str, Neighbourhood]) -> list[Finding]:
    """What is wrong with how stages feed each other."""
    return [finding for rule in rules().graph for finding in rule.findings(rows, stages)]
