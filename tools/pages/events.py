"""Every kind of event, for docs/metadata.md."""

from __future__ import annotations

from dataclasses import fields

from goldsmith.journal.event_base import COLUMNS
from goldsmith.journal.events import EVENTS
from pages.markdown import code, sentence, table


def listed() -> str:
    """Each kind with what it fills in `facts`."""
    rows = [
        (
            code(name),
            sentence(kind.__doc__),
            ", ".join(code(f.name) for f in fields(kind) if f.name not in COLUMNS),
        )
        for name, kind in EVENTS.items()
    ]
    return table(["kind", "when", "facts"], rows)
