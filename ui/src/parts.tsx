// Small parts that every view uses: times, states, problems, dialogs.
import { useEffect, useRef, useState, type ReactNode } from "react";
import type { Problem } from "./api";
import { link } from "./router";

const WHEN = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** A time in the reader's zone; UTC on hover. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span className="quiet">–</span>;
  const moment = new Date(at);
  return <time dateTime={at} title={`${moment.toISOString()} (UTC)`}>{WHEN.format(moment)}</time>;
}

export function duration(start: string, end: string | null, now = Date.now()): string {
  const seconds = ((end ? Date.parse(end) : now) - Date.parse(start)) / 1000;
  if (seconds < 60) return `${Math.max(0, seconds).toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export const count = (value: number | null | undefined) => (value == null ? "–" : value.toLocaleString());

export function text(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const TONES: Record<string, string> = {
  succeeded: "ok", ok: "ok", done: "ok", passed: "ok", running: "live", failed: "bad", error: "bad", critical: "bad", high: "bad",
  stopped: "held", interrupted: "held", blocked: "held", waiting: "wait", warning: "wait", open: "bad", acknowledged: "wait",
};
export const tone = (status: string) => TONES[status] ?? "none";

export function State({ of }: { of: string }) {
  return <span className={`state ${tone(of)}`}>{of}</span>;
}

export function Refusal({ problem }: { problem: Problem | Error | null | undefined }) {
  if (!problem) return null;
  const hint = "hint" in problem ? problem.hint : "";
  return <div className="refusal" role="alert"><strong>{problem.message}</strong>{hint && <span> {hint}</span>}</div>;
}

export function Empty({ children }: { children: ReactNode }) {
  return <p className="empty">{children}</p>;
}

export function Card({ title, aside, children }: { title: ReactNode; aside?: ReactNode; children: ReactNode }) {
  return <section className="card"><header><h2>{title}</h2>{aside && <div className="aside">{aside}</div>}</header>{children}</section>;
}

export const PipelineLink = ({ id }: { id: string }) => <a href={link(["pipelines", id])}>{id}</a>;
export const DatasetLink = ({ id }: { id: string }) => <a href={link(["datasets", id])}>{id}</a>;
export const RunLink = ({ id, label }: { id: string; label?: string }) => <a className="mono" href={link(["runs", id])}>{label ?? id}</a>;

export function Tabs({ names, current, choose }: { names: string[]; current: string; choose: (name: string) => void }) {
  return (
    <div className="tabs" role="tablist">
      {names.map((name) => (
        <button key={name} role="tab" aria-selected={name === current} onClick={() => choose(name)}>{name}</button>
      ))}
    </div>
  );
}

export function Dialog({ title, close, children }: { title: string; close: () => void; children: ReactNode }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} onClose={close} aria-label={title}>
      <header><h2>{title}</h2><button className="plain" aria-label="Close" onClick={close}>✕</button></header>
      {children}
    </dialog>
  );
}

/** Ticks while something runs, so that durations move. */
export function useNow(moving: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!moving) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [moving]);
  return now;
}
