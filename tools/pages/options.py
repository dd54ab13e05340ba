"""docs/options.md: what `options` of sources, stages and targets may hold."""

from __future__ import annotations

from collections.abc import Iterable

from goldsmith.catalog.options import SOURCE, STAGE, TARGET, Option
from goldsmith.catalog.transforms import TRANSFORMS
from goldsmith.catalog.write_modes import WRITE_MODES
from pages.markdown import code, filled, table


def page() -> str:
    transforms = [
        Option(name=name, type=t.type, default="none", doc=t.doc, example=t.example)
        for name, t in TRANSFORMS.all()
    ]
    of_modes = [option for _name, mode in WRITE_MODES.all() for option in mode.options]
    stages = sorted((*STAGE, *transforms, *of_modes), key=lambda option: option.name)
    parts = {"sources": SOURCE, "stages": stages, "targets": TARGET}
    return filled("options.md", {name: _listed(options) for name, options in parts.items()})


def _listed(options: Iterable[Option]) -> str:
    rows = [
        (
            code(option.name),
            option.type,
            option.default,
            option.doc,
            code(f"{option.name}: {option.example}"),
        )
        for option in options
    ]
    return table(["key", "holds", "default", "meaning", "example"], rows)
