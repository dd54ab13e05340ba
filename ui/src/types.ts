// Shapes of the API's answers that several views use.
export interface Run {
  run_id: string; request_id: string | null; pipeline_id: string; status: string; because: string | null;
  asked_by: string | null; environment: string; catalog_revision: number; started_at: string; ended_at: string | null;
  error_code: string | null; error_message: string | null; worker: string | null;
}
export interface StageRun {
  stage_run_id: string; run_id: string; pipeline_id: string; stage_order: number; stage_name: string; target_id: string;
  attempt: number; status: string; step: string | null; because: string | null; started_at: string; ended_at: string | null;
  rows_read: number | null; rows_written: number | null; rows_quarantined: number | null; rows_dropped: number | null;
  bytes_written: number | null; snapshot: string | null; error_code: string | null; error_message: string | null;
  facts: Record<string, unknown>;
}
export interface Verdict {
  stage_run_id: string; run_id: string; stage_order: number; dataset_id: string; rule_set_id: string; check_name: string;
  settings: Record<string, unknown>; severity: string; on_fail: string; passed: boolean; broken: number | null;
  observed: string | null; expected: string | null; message: string; duration_ms: number | null; at: string;
}
export interface RunDetail extends Run { remedies: string[]; stage_runs: StageRun[]; verdicts: Verdict[] }
export interface AuditEvent {
  event_id: number; at: string; kind: string; pipeline_id: string | null; stage_order: number | null; status: string | null;
  error_code: string | null; error_message: string | null; run_id: string | null; stage_run_id: string | null;
  attempt: number | null; actor: string | null; facts: Record<string, unknown>;
}
export interface PlannedStage {
  stage_id: string; pipeline_id: string; stage_order: number; stage_name: string; fate: string; because: string;
  layer: string; inputs: { dataset_id: string; read: string; location: string }[];
  target: { dataset_id: string; type: string; location: string }; sql: string | null; write_mode: string;
  keys: string[]; checks: { type: string; severity: string; on_fail: string; rule_set_id: string }[];
}
export interface Plan { revision: number; stages: PlannedStage[] }
export interface Flag {
  entity_type: string; entity_id: string; flag_name: string; reason: string | null; stops: boolean;
  set_by?: string | null; until?: string | null; [other: string]: unknown;
}
export interface Incident {
  incident_id: string; severity: string; status: string; pipeline_id: string | null; opened_at: string;
  [other: string]: unknown;
}
export interface Finding { severity: string; code: string; message?: string; [other: string]: unknown }
export interface Change {
  revision: number; at: string; actor: string; reason: string | null; table: string; key: string[]; operation: string;
  before: Record<string, unknown> | null; after: Record<string, unknown> | null;
}
export interface Session { owner: string; role: string; only: string[]; csrf_token: string | null }
