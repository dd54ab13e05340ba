"""A process of `test_throttle_buckets.py`: takes tokens until none are left; prints how often."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from goldsmith.catalog.catalog import Catalog
from goldsmith.engine.pace import buckets
from goldsmith.engine.pace.buckets import HeldTokens, TokenWish
from goldsmith.journal.journal import Journal
from goldsmith.journal.owners import Owner

if __name__ == "__main__":
    url, tokens = sys.argv[1], float(sys.argv[2])
    catalog = Catalog.open(url)
    journal, granted = Journal(catalog.engine), 0
    while True:
        [throttle] = buckets.read_throttles(journal)
        wishes = [TokenWish(throttle=throttle, tokens=tokens)]
        held = buckets.acquire(journal, wishes, owner=str(Owner.this_process()))
        if not isinstance(held, HeldTokens):
            break
        granted += 1
        buckets.settle(journal, held, {throttle.throttle_id: tokens})
    catalog.close()
    print(json.dumps(granted))
