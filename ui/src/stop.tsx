// Stop and release: what a stop reaches is shown before it is set, and a reason is asked for.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post, useGet, type Problem } from "./api";
import { DatasetLink, Dialog, Refusal, Time } from "./parts";
import type { Flag } from "./types";

interface Reach {
  entity: string; running_stages: unknown[]; stages: string[]; downstream_stages: string[]; datasets: string[]; owners: string[];
  sla_minutes: Record<string, number>;
}

export function StopButton({ entity, label = "Stop" }: { entity: string; label?: string }) {
  const [open, setOpen] = useState(false);
  return <>
    <button className="danger" onClick={() => setOpen(true)}>{label}</button>
    {open && <StopDialog entity={entity} close={() => setOpen(false)} />}
  </>;
}

function StopDialog({ entity, close }: { entity: string; close: () => void }) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const [hours, setHours] = useState("");
  const reach = useMutation<Reach, Problem>({ mutationFn: () => post("/flags/stop", { entity, reason: "blast radius", dry_run: true }) });
  const stop = useMutation<unknown, Problem>({
    mutationFn: () => post("/flags/stop", { entity, reason, until: hours ? new Date(Date.now() + Number(hours) * 3_600_000).toISOString() : null }),
    onSuccess: () => { void client.invalidateQueries(); close(); },
  });
  if (reach.isIdle) reach.mutate();
  const found = reach.data;
  return (
    <Dialog title={`Stop ${entity}`} close={close}>
      <Refusal problem={reach.error} />
      {found && <dl className="facts">
        <dt>Running now</dt><dd>{found.running_stages.length ? found.running_stages.map((stage) => typeof stage === "string" ? stage : JSON.stringify(stage)).join(", ") : "nothing"}</dd>
        <dt>Stages stopped</dt><dd>{found.stages.join(", ") || "none"}</dd>
        <dt>Stages downstream</dt><dd>{found.downstream_stages.join(", ") || "none"}</dd>
        <dt>Datasets without new rows</dt><dd>{found.datasets.map((id, index) => <span key={id}>{index > 0 && ", "}<DatasetLink id={id} /></span>)}{found.datasets.length === 0 && "none"}</dd>
        <dt>Owners</dt><dd>{found.owners.join(", ") || "none named"}</dd>
        <dt>SLAs</dt><dd>{Object.entries(found.sla_minutes).map(([id, minutes]) => `${id}: ${minutes} min`).join(", ") || "none"}</dd>
      </dl>}
      <form onSubmit={(event) => { event.preventDefault(); stop.mutate(); }}>
        <label>Reason, for whoever is paged<input required value={reason} onChange={(event) => setReason(event.target.value)} /></label>
        <label>Ends by itself after hours (empty: until released)<input type="number" min="0.1" step="0.1" value={hours} onChange={(event) => setHours(event.target.value)} /></label>
        <Refusal problem={stop.error} />
        <div className="buttons"><button type="button" onClick={close}>Leave it running</button><button className="danger" disabled={!reason.trim() || stop.isPending}>Stop it</button></div>
      </form>
    </Dialog>
  );
}

export function ReleaseButton({ entity }: { entity: string }) {
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const release = useMutation<unknown, Problem>({
    mutationFn: () => post("/flags/release", { entity, reason }),
    onSuccess: () => { void client.invalidateQueries(); setOpen(false); },
  });
  return <>
    <button onClick={() => setOpen(true)}>Release</button>
    {open && <Dialog title={`Release ${entity}`} close={() => setOpen(false)}>
      <p>Stopped requests wait again and run when the gates are open.</p>
      <form onSubmit={(event) => { event.preventDefault(); release.mutate(); }}>
        <label>Reason<input required value={reason} onChange={(event) => setReason(event.target.value)} /></label>
        <Refusal problem={release.error} />
        <div className="buttons"><button type="button" onClick={() => setOpen(false)}>Keep it stopped</button><button className="main" disabled={!reason.trim() || release.isPending}>Release it</button></div>
      </form>
    </Dialog>}
  </>;
}

export const entityOf = (flag: Flag) => (flag.entity_type === "everything" ? "everything" : `${flag.entity_type}:${flag.entity_id}`);
export const useStops = () => useGet<Flag[]>("/flags", 15_000);

export function StopList({ flags }: { flags: Flag[] }) {
  return <ul className="stops">{flags.map((flag) => (
    <li key={entityOf(flag) + flag.flag_name}>
      <strong>{entityOf(flag)}</strong><span>{flag.reason ?? "no reason given"}</span>
      <span className="quiet">{String(flag.updated_by ?? "")} <Time at={flag.updated_at as string | null} /></span>
      <ReleaseButton entity={entityOf(flag)} />
    </li>
  ))}</ul>;
}
