// Lists that are only read: the checks there are, healing, the audit log, the settings.
import { useAll, useGet } from "../api";
import { Card, Refusal } from "../parts";
import { useQueryValue } from "../router";
import { Table } from "../table";
import type { AuditEvent } from "../types";
import { EventTable } from "./run";

export function Checks() {
  const checks = useGet<{ check: string; of: string; cost: string; doc: string; settings: { name: string; takes: string; required: boolean }[] }[]>("/checks");
  return <><h1>Checks</h1><Refusal problem={checks.error} />{checks.data && <Table name="checks" rows={checks.data} empty="No checks." columns={[
    { name: "check", value: (row) => row.check }, { name: "of", value: (row) => row.of }, { name: "cost", value: (row) => row.cost }, { name: "what it checks", value: (row) => row.doc, wide: true },
    { name: "settings", value: (row) => row.settings.map((setting) => setting.name + (setting.required ? "" : "?")).join(", "), wide: true },
  ]} />}</>;
}

export function Healing() {
  const pairs = useGet<{ error_code: string; step_order: number; remedy: string; enabled: boolean; max_uses: number; uses: number; success_rate: number | null; only_where_allowed: boolean }[]>("/healing/pairs");
  const errors = useGet<{ name: string; family: string; cause: string; advice: string; may_pass: boolean }[]>("/errors");
  return <><h1>Healing</h1><Refusal problem={pairs.error ?? errors.error} />
    <Card title="Error codes and their remedies">{pairs.data && <Table name="remedies" rows={pairs.data} empty="No remedies." columns={[
      { name: "error", value: (row) => row.error_code }, { name: "step", value: (row) => row.step_order, right: true }, { name: "remedy", value: (row) => row.remedy }, { name: "enabled", value: (row) => row.enabled ? "yes" : "no" },
      { name: "only where allowed", value: (row) => row.only_where_allowed ? "yes" : "no" }, { name: "uses", value: (row) => row.uses, right: true }, { name: "helped", value: (row) => row.success_rate, show: (row) => row.success_rate === null ? "never used" : `${Math.round(row.success_rate * 100)} %`, right: true },
    ]} />}</Card>
    <Card title="Error codes">{errors.data && <Table name="errors" rows={errors.data} empty="" columns={[{ name: "error", value: (row) => row.name }, { name: "family", value: (row) => row.family }, { name: "passes by itself", value: (row) => row.may_pass ? "may" : "no" }, { name: "cause", value: (row) => row.cause, wide: true }, { name: "what to do", value: (row) => row.advice, wide: true }]} />}</Card></>;
}

export function Audit() {
  const [pipeline, setPipeline] = useQueryValue("pipeline");
  const pipelines = useAll<{ pipeline_id: string }>("/catalog/tables/pipelines?limit=1000");
  const events = useGet<{ items: AuditEvent[] }>(`/events?limit=1000${pipeline ? `&pipeline=${encodeURIComponent(pipeline)}` : ""}`);
  return <><div className="title"><h1>Audit log</h1><span className="grow" /><select aria-label="Pipeline" value={pipeline} onChange={(event) => setPipeline(event.target.value)}><option value="">every pipeline</option>{(pipelines.data ?? []).map((row) => <option key={row.pipeline_id}>{row.pipeline_id}</option>)}</select></div>
    <Refusal problem={events.error} /><p className="quiet">The newest 1,000 events; the API has all of them.</p>{events.data && <EventTable events={events.data.items} />}</>;
}

export function Settings() {
  const settings = useGet<{ project: string; environment: string; settings: { name: string; value: string; origin: string; doc: string }[] }>("/settings");
  return <><h1>Settings</h1><Refusal problem={settings.error} />{settings.data && <><p className="quiet">{settings.data.project}, environment {settings.data.environment}</p><Table name="settings" rows={settings.data.settings} empty="" columns={[
    { name: "setting", value: (row) => row.name }, { name: "value", value: (row) => row.value }, { name: "from", value: (row) => row.origin }, { name: "meaning", value: (row) => row.doc, wide: true },
  ]} /></>}</>;
}
