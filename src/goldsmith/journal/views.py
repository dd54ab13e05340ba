"""Every documented view, for people's own BI, for `status` and `why`, and for the docs."""

from __future__ import annotations

from goldsmith.journal.lineage_views import OF_LINEAGE_VIEWS
from goldsmith.journal.run_views import OF_RUNS
from goldsmith.journal.state_views import OF_NOW
from goldsmith.journal.view import View

#: In the order of creation: a view may read those before it.
VIEWS: tuple[View, ...] = (*OF_RUNS, *OF_NOW, *OF_LINEAGE_VIEWS)
