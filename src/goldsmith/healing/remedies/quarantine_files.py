"""Quarantine the offending file until it is rewritten, and load the others."""

from __future__ import annotations

from dataclasses import replace

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy(loosens="leaves out a file that cannot be read and publishes the others")
def quarantine_files(failure: Failure) -> Decision | None:
    file = failure.facts.get("file")
    # For some formats Spark does not name the broken file; a guess must not be quarantined.
    if not isinstance(file, str) or not file or failure.facts.get("is_guess"):
        return None
    decision = rerun(f"{file} is left out until it is rewritten ({failure.code})", after=0)
    return replace(decision, files_aside=(file,))
