"""SQL becomes a pipeline that runs: digest --apply, then run."""

from __future__ import annotations

import json
from pathlib import Path

from stories.shop import SMALL, Shop

CONVENTIONS = """
pipelines: [{pipeline_id: user_events_etl}]
digest_conventions:
  - {layer: bronze, location: "s3://company/bronze/{name}/", type: s3, file_format: parquet}
  - {layer: silver, location: "s3://company/silver/{name}/", type: s3, file_format: parquet}
  - {layer: gold, location: "{dataset}", type: redshift, rule_set_id: row_count_gt0}
"""
SQL = """
COPY bronze_user_events FROM 's3://company/raw/user_events/' IAM_ROLE default FORMAT JSON 'auto';
INSERT INTO silver_user_events
SELECT user_id, CAST(event_ts AS TIMESTAMP) AS event_ts FROM bronze_user_events
WHERE user_id IS NOT NULL;
CREATE TABLE analytics.daily_user_events AS
SELECT DATE(event_ts) AS event_date, COUNT(*) AS total_events,
  COUNT(DISTINCT user_id) AS unique_users
FROM silver_user_events GROUP BY DATE(event_ts);
"""
EVENTS = [(1, "2026-01-01T10:00:00"), (2, "2026-01-01T11:00:00"), (1, "2026-01-02T10:00:00")]


def test_what_digest_applies_runs(tmp_path: Path) -> None:
    import duckdb

    shop = Shop(folder=tmp_path / "events", catalog="")
    shop.goldsmith("init", str(shop.folder))
    settings = shop.folder / "goldsmith.toml"
    settings.write_text(settings.read_text() + SMALL)
    shop.apply(CONVENTIONS)
    raw = shop.folder / ".goldsmith/s3/company/raw/user_events/a.json"
    raw.parent.mkdir(parents=True)
    raw.write_text("".join(json.dumps({"user_id": u, "event_ts": at}) + "\n" for u, at in EVENTS))
    script = tmp_path / "load.sql"
    script.write_text(SQL)
    options = ("--dialect", "redshift", "--pipeline", "user_events_etl", "--apply", "--yes")
    project = ("--project", str(shop.folder))

    shop.goldsmith(*project, "digest", str(script), *options)
    again = shop.goldsmith(*project, "digest", str(script), *options)
    assert "Nothing would change" in again.stdout
    shop.goldsmith(*project, "run", "user_events_etl")

    warehouse = shop.folder / ".goldsmith/warehouse.duckdb"
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        query = "SELECT CAST(event_date AS VARCHAR), total_events, unique_users"
        found = connection.execute(
            f"{query} FROM analytics.daily_user_events ORDER BY 1"
        ).fetchall()
    assert found == [("2026-01-01", 2, 2), ("2026-01-02", 1, 1)]
