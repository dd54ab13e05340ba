"""Tab-separated values."""

from __future__ import annotations

from dataclasses import replace

from goldsmith.engine.read.formats.csv import csv

tsv = replace(csv, endings=("tab",))
