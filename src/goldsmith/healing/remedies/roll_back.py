"""Roll a lake table back to the newest snapshot that Goldsmith itself published.

For a table that another writer damaged. Rows that Goldsmith published stay: none is loaded twice.
"""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy(loosens="takes the target back to the newest state that Goldsmith published")
def roll_back(failure: Failure) -> Decision | None:
    if failure.adjusted.get("roll_back"):
        return None
    because = "the table is taken back to the newest state that Goldsmith published"
    return rerun(because, after=0, roll_back=True)
