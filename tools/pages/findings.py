"""docs/reference/findings.md: everything that can be wrong with the rows."""

from __future__ import annotations

from importlib import import_module

from goldsmith.planning.integrity.check import FINDINGS
from goldsmith.planning.integrity.finding import FindingSeverity, Rule
from pages.markdown import code, filled, sentence, table


def page() -> str:
    known = dict(FINDINGS.all())
    parts = {
        gravity.value: table(
            ["code", "looks at", "what it means"],
            [
                (code(rule.code), _looks_at(rule), _says(name))
                for name, rule in known.items()
                if rule.gravity is gravity
            ],
        )
        for gravity in FindingSeverity
    }
    return filled("findings.md", {"count": str(len(known)), **parts})


def _says(name: str) -> str:
    return sentence(import_module(f"{FINDINGS.package}.{name}").__doc__)


def _looks_at(rule: Rule) -> str:
    if rule.reads is not None:
        return ", ".join(code(kind.table.name) for kind in rule.reads)
    return "all stages together" if rule.is_graph else "a stage and the rows around it"
