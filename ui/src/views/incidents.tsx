// Incidents: what needs a person, with its runbook; acknowledge and close.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post, useGet, type Problem } from "../api";
import { Card, DatasetLink, PipelineLink, Refusal, RunLink, State, text, Time } from "../parts";
import { link, useQueryValue } from "../router";
import { Table } from "../table";
import type { Incident } from "../types";

export function Incidents({ id }: { id?: string }) {
  const [closed, setClosed] = useQueryValue("closed");
  const list = useGet<Incident[]>(`/incidents${closed ? "?closed=true" : ""}`, 15_000);
  return <>
    <div className="title"><h1>Incidents</h1><span className="grow" /><label className="check"><input type="checkbox" checked={closed !== ""} onChange={(event) => setClosed(event.target.checked ? "yes" : "")} /> closed ones too</label></div>
    {id && <OneIncident key={id} id={id} />}
    <Refusal problem={list.error} />
    {list.data && <Table name="incidents" rows={list.data} empty="No incident is open." columns={[
      { name: "severity", value: (row) => row.severity, show: (row) => <State of={row.severity ?? "none"} /> }, { name: "status", value: (row) => row.status, show: (row) => <State of={row.status} /> },
      { name: "incident", value: (row) => row.incident_id, show: (row) => <a className="mono" href={link(["incidents", row.incident_id], { closed })}>{row.incident_id}</a> },
      { name: "pipeline", value: (row) => row.pipeline_id, show: (row) => row.pipeline_id ? <PipelineLink id={row.pipeline_id} /> : "" }, { name: "error", value: (row) => row.error_code }, { name: "cause", value: (row) => row.cause, wide: true },
      { name: "opened", value: (row) => row.opened_at, show: (row) => <Time at={row.opened_at} /> }, { name: "times", value: (row) => row.times, right: true }, { name: "acknowledged by", value: (row) => row.acknowledged_by },
    ]} />}
  </>;
}

function OneIncident({ id }: { id: string }) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const found = useGet<Incident>(`/incidents/${id}`).data;
  const onSuccess = () => void client.invalidateQueries();
  const acknowledge = useMutation<unknown, Problem>({ mutationFn: () => post(`/incidents/${id}/acknowledge`), onSuccess });
  const close = useMutation<unknown, Problem>({ mutationFn: () => post(`/incidents/${id}/close`, { reason }), onSuccess });
  if (!found) return null;
  return <Card title={<span className="mono">{id}</span>} aside={<State of={found.status} />}>
    <dl className="facts">
      <dt>Cause</dt><dd>{text(found.error_code)} {text(found.cause)}</dd>
      <dt>What to do</dt><dd>{text(found.runbook) || "No runbook is written for this."}</dd>
      <dt>Tried</dt><dd>{(found.tried as string[] | null)?.join("; ") || "nothing"}</dd>
      <dt>Affected</dt><dd>{((found.affected as string[] | null) ?? []).map((name) => <span key={name}><DatasetLink id={name} /> </span>)}</dd>
      <dt>Owner</dt><dd>{text(found.owner) || "none named"}</dd>
      {typeof found.run_id === "string" && <><dt>Run</dt><dd><RunLink id={found.run_id} /></dd></>}
      <dt>Acknowledged</dt><dd>{found.acknowledged_by ? <>{text(found.acknowledged_by)}, <Time at={found.acknowledged_at as string} /></> : "by nobody"}</dd>
    </dl>
    {found.status !== "closed" && <form className="inline" onSubmit={(event) => { event.preventDefault(); close.mutate(); }}>
      {found.status === "open" && <button type="button" className="main" onClick={() => acknowledge.mutate()}>Acknowledge</button>}
      <label>What it was and was done<input required value={reason} onChange={(event) => setReason(event.target.value)} /></label><button disabled={!reason.trim()}>Close it</button>
    </form>}
    <Refusal problem={acknowledge.error ?? close.error} />
  </Card>;
}
