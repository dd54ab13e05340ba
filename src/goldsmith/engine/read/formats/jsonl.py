"""JSON lines: every line is one record."""

from __future__ import annotations

from dataclasses import replace

from goldsmith.engine.read.formats.json import json

jsonl = replace(json, endings=("ndjson",))
