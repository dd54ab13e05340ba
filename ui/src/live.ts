// The stream of new events: what it says makes answers stale, and a lost connection is shown.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { address } from "./api";

const KINDS = [
  "RunRequested", "RequestWaiting", "RequestTaken", "RequestRequeued", "RequestEnded", "RunStarted", "RunFinished", "RunFailed", "RunStopped",
  "RunInterrupted", "RunBlocked", "StageStarted", "StageStepped", "StageSkipped", "StageBlocked", "StageFinished", "StageFailed", "StageStopped",
  "StageInterrupted", "FlagSeen", "CatalogApplied", "CatalogUndone", "DatasetRestored", "RowsDiscarded", "IncidentOpened", "IncidentClosed",
];

/** Follow the stream while signed in; true while the connection is lost. */
export function useLive(on: boolean): boolean {
  const client = useQueryClient();
  const [lost, setLost] = useState(false);
  const due = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    if (!on) return;
    let source: EventSource;
    let again: ReturnType<typeof setTimeout> | undefined;
    let last = "";
    // Events come in bursts: ask once, a moment after the first of them.
    const changed = (event: MessageEvent) => {
      last = event.lastEventId || last;
      due.current ??= setTimeout(() => {
        due.current = null;
        void client.invalidateQueries();
      }, 400);
    };
    const open = () => {
      source = new EventSource(address(`/events/stream${last ? `?after=${last}` : ""}`));
      source.onopen = () => {
        setLost((was) => {
          if (was) void client.invalidateQueries();
          return false;
        });
      };
      source.onerror = () => {
        setLost(true);
        // The browser itself gives up after an answer that is no stream, as of a proxy: begin again.
        if (source.readyState === EventSource.CLOSED) again = setTimeout(open, 2000);
      };
      for (const kind of KINDS) source.addEventListener(kind, changed);
    };
    open();
    return () => {
      clearTimeout(again);
      source.close();
    };
  }, [on, client]);
  return lost;
}
