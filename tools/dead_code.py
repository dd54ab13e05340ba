"""Fail if src has functions, classes, properties or imports that nothing in src uses.

python tools/dead_code.py

Fields of dataclasses are not looked at: they are columns, facts of errors and settings.
"""

from __future__ import annotations

import sys
from pathlib import Path

from vulture import Vulture

ROOT = Path(__file__).resolve().parents[1]

#: Kinds of vulture's findings that fail the build.
KINDS = ("class", "function", "import", "method", "property", "unreachable_code")
#: Functions that a registry, click, SQLAlchemy or Alembic finds by a decorator or by file name.
BY_DECORATOR = [
    "@*.command*",
    "@*.group*",
    "@*_check*",
    "@*_rule*",
    "@remedy*",
    "@router.*",
    "@login_router.*",
    "@gateway_router.*",
    "@lakehouse_router.*",
    "@compiles*",
    "@*listens_for*",
]
BY_FILE_NAME = ["*/migrations/*"]
#: What is used from outside src, and by whom.
USED_OUTSIDE = {
    "load_dialect_impl": "SQLAlchemy's TypeDecorator",
    "process_bind_param": "SQLAlchemy's TypeDecorator",
    "process_result_value": "SQLAlchemy's TypeDecorator",
    "list_commands": "click's Group",
    "get_command": "click's Group",
    "format_commands": "click's Group",
    "redirect_request": "urllib's HTTPRedirectHandler",
    "validate": "people who check a data frame in a notebook",
    "CheckFailedEvent": "the list of events; its docstring says that nothing records it yet",
    "WorkerEndedEvent": "the list of events; its docstring says that nothing records it yet",
    "FlagSeen": "the list of events; its docstring says that nothing records it yet",
    "CatalogMigrated": "the list of events; its docstring says that nothing records it yet",
    "event_of": "tests, to read an event back from its row",
    "free_all": "tests, to release the leases of a dead process",
    "interrupt_stage_runs": "tests, to end the stage runs of a dead process",
    "do_GET": "http.server's BaseHTTPRequestHandler",
    "log_message": "http.server's BaseHTTPRequestHandler",
    "catalog_findings": "tests, to look at one kind of finding",
    "of_edges": "tests and the bench, to make a graph of plain edges",
    "write_trace": "tests, to write the workload that `simulate --trace` reads",
}


def unused() -> list[str]:
    """Each unused name in src with its file and line."""
    vulture = Vulture(ignore_decorators=BY_DECORATOR)
    vulture.scavenge([str(ROOT / "src")], exclude=BY_FILE_NAME)
    return [
        f"{item.filename.relative_to(ROOT)}:{item.first_lineno}: {item.message}"
        for item in vulture.get_unused_code()
        if item.typ in KINDS and item.name not in USED_OUTSIDE
    ]


def main() -> int:
    found = unused()
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
