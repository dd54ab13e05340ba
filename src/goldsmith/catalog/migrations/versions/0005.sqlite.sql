CREATE INDEX ix_runs_request ON runs (request_id);

CREATE INDEX ix_stage_runs_target ON stage_runs (target_id, status, ended_at);

CREATE INDEX ix_input_files_stage_run ON input_files (stage_run_id);

CREATE INDEX ix_input_snapshots_stage_run ON input_snapshots (stage_run_id);

CREATE INDEX ix_healing_uses_at ON healing_uses (at);

CREATE INDEX ix_incidents_status ON incidents (status);

