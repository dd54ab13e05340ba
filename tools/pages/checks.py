"""docs/reference/checks.md: every check a rule set may name."""

from __future__ import annotations

from importlib import import_module

from goldsmith.checks.aliases.translate import names
from goldsmith.checks.check import CHECKS, EVERY_CHECK
from pages.markdown import code, filled, sentence, table


def page() -> str:
    rows = [
        (
            code(name),
            "rows" if check.is_row_check else "dataset",
            check.cost.value,
            sentence(import_module(f"{CHECKS.package}.{name}").__doc__),
            "; ".join(setting.usage for setting in check.settings.values()),
        )
        for name, check in CHECKS.all()
    ]
    every = [(code(setting.name), setting.kind) for setting in EVERY_CHECK.values()]
    parts = {
        "checks": table(["check", "of", "measuring it", "what holds", "settings"], rows),
        "every check": table(["setting", "takes"], every),
        "aliases": table(
            ["tool", "name there", "check here"],
            [(tool.replace("_", " "), code(name), code(alias.to)) for tool, name, alias in names()],
        ),
    }
    return filled("checks.md", parts)
