"""What users read: through one way out, and true outside of a clone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import goldsmith
from goldsmith.journal.events import EVENTS

SOURCE = Path(goldsmith.__file__).parent
TREES = {file: ast.parse(file.read_text("utf-8")) for file in sorted(SOURCE.rglob("*.py"))}


def test_commands_write_by_echo_alone_which_escapes_what_a_terminal_obeys() -> None:
    """Write with `echo`, `style`, `table` and `print_json` of goldsmith.cli.output."""
    raw = [
        f"{file.relative_to(SOURCE)}:{node.lineno}"
        for file, tree in TREES.items()
        if file.parent.name == "cli" and file.name != "output.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("click.echo", "click.secho", "click.style", "print")
    ]
    assert raw == []


def test_no_message_names_make_which_only_a_clone_has() -> None:
    named = [
        f"{file.relative_to(SOURCE)}:{node.lineno}"
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"\bmake (setup|demo|test|docs|soak)\b", node.value)
    ]
    assert named == []


def test_an_event_that_nothing_records_says_so() -> None:
    used = set()
    for file, tree in TREES.items():
        if file.parent.name == "journal" and file.name.endswith("events.py"):
            continue
        imported = {
            name.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("events")
            for name in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in imported:
                used.add(node.id.removesuffix("Event"))
            if isinstance(node, ast.Attribute) and "events" in ast.unparse(node.value):
                used.add(node.attr.removesuffix("Event"))
    unrecorded = {name for name in EVENTS if name not in used}
    marked = {
        name for name, kind in EVENTS.items() if (kind.__doc__ or "").startswith("Not recorded yet")
    }
    assert marked == unrecorded
