"""docs/reference/settings.md: every setting of a process."""

from __future__ import annotations

from enum import StrEnum

from goldsmith.settings.raw_settings import variable
from goldsmith.settings.sections import SECTIONS, SettingSpec, specs
from pages.markdown import code, filled, sentence, table


def page() -> str:
    sections = [f"## Top level\n\n{_listed('')}"]
    sections += [
        f"## [{section}]\n\n{sentence(holds.__doc__)}\n\n{_listed(section)}"
        for section, holds in SECTIONS.items()
    ]
    return filled("settings.md", {"settings": "\n\n".join(sections)})


def _listed(section: str) -> str:
    rows = [
        (
            code(name.rpartition(".")[2]),
            _kind(spec),
            _default(spec),
            spec.doc,
            code(variable(name)),
        )
        for name, spec in specs().items()
        if name.rpartition(".")[0] == section
    ]
    return table(["setting", "holds", "default", "meaning", "variable"], rows)


def _kind(spec: SettingSpec) -> str:
    return (
        spec.kind.value
        if spec.choices is None
        else ", ".join(code(choice) for choice in spec.choices)
    )


def _default(spec: SettingSpec) -> str:
    if spec.default is None:
        return ""
    return code(spec.default.value if isinstance(spec.default, StrEnum) else spec.default)
