// The frame of the page: sign-in, navigation, banners, search, help, and the view of the address.
import { QueryClient, QueryClientProvider, useIsFetching, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, StrictMode, Suspense, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { call, get, keepCsrf, post, Problem, useAll } from "./api";
import { useLive } from "./live";
import { Dialog, Refusal } from "./parts";
import { go, link, useAddress } from "./router";
import { StopList, useStops } from "./stop";
import type { Session } from "./types";
import Now from "./views/now";
import "./style.css";

const Pipelines = lazy(async () => ({ default: (await import("./views/pipelines")).Pipelines }));
const Pipeline = lazy(async () => ({ default: (await import("./views/pipelines")).Pipeline }));
const Runs = lazy(async () => ({ default: (await import("./views/run")).Runs }));
const RunPage = lazy(async () => ({ default: (await import("./views/run")).RunPage }));
const Datasets = lazy(async () => ({ default: (await import("./views/datasets")).Datasets }));
const Dataset = lazy(async () => ({ default: (await import("./views/datasets")).Dataset }));
const LineageStart = lazy(async () => ({ default: (await import("./views/lineage")).LineageStart }));
const Lineage = lazy(async () => ({ default: (await import("./views/lineage")).Lineage }));
const Control = lazy(() => import("./views/control"));
const Incidents = lazy(async () => ({ default: (await import("./views/incidents")).Incidents }));
const Catalog = lazy(async () => ({ default: (await import("./views/catalog")).Catalog }));
const Checks = lazy(async () => ({ default: (await import("./views/records")).Checks }));
const Healing = lazy(async () => ({ default: (await import("./views/records")).Healing }));
const Audit = lazy(async () => ({ default: (await import("./views/records")).Audit }));
const Settings = lazy(async () => ({ default: (await import("./views/records")).Settings }));

const VIEWS: [name: string, title: string, key: string][] = [
  ["now", "Now", "n"], ["pipelines", "Pipelines", "p"], ["runs", "Runs", "r"], ["datasets", "Datasets", "d"], ["lineage", "Lineage", "l"], ["control", "Control", "c"],
  ["incidents", "Incidents", "i"], ["catalog", "Catalog", "t"], ["checks", "Checks", "k"], ["healing", "Healing", "h"], ["audit", "Audit log", "a"], ["settings", "Settings", "s"],
];

function View() {
  const { parts } = useAddress();
  const [name = "now", id, ...rest] = parts;
  switch (name) {
    case "now": return <Now />;
    case "pipelines": return id ? <Pipeline key={id} id={id} /> : <Pipelines />;
    case "runs": return id ? <RunPage key={id} id={id} /> : <Runs />;
    case "datasets": return id ? <Dataset key={id} id={id} /> : <Datasets />;
    case "lineage": return id ? <Lineage key={id} id={id} /> : <LineageStart />;
    case "control": return <Control />;
    case "incidents": return <Incidents id={id} />;
    case "catalog": return <Catalog table={id} rowKey={rest.length ? rest.join("/") : undefined} />;
    case "checks": return <Checks />;
    case "healing": return <Healing />;
    case "audit": return <Audit />;
    case "settings": return <Settings />;
    default: return <><h1>No such page</h1><p>Nothing is at this address. <a href="#/now">Now</a> shows what runs.</p></>;
  }
}

function Page({ session }: { session: Session }) {
  const client = useQueryClient();
  const lost = useLive(true);
  const stops = useStops();
  const { parts } = useAddress();
  const [open, setOpen] = useState<"search" | "help" | null>(null);
  const [theme, setTheme] = useState(localStorage.getItem("theme") ?? "");
  useEffect(() => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  useEffect(() => {
    let first = "";
    const pressed = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setOpen("search");
        return;
      }
      const target = event.target as HTMLElement;
      if (event.metaKey || event.ctrlKey || event.altKey || target.matches("input, textarea, select") || document.querySelector("dialog[open]")) return;
      if (event.key === "?") setOpen("help");
      else if (event.key === "/") { event.preventDefault(); setOpen("search"); }
      else if (first === "g") {
        const view = VIEWS.find(([, , key]) => key === event.key);
        if (view) go(`/${view[0]}`);
      }
      first = event.key;
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  const signOut = async () => { await call("DELETE", "/session"); keepCsrf(null); client.clear(); location.reload(); };
  const current = parts[0] ?? "now";
  const fetching = useIsFetching({ predicate: (query) => query.state.data === undefined }) > 0;
  useEffect(() => { document.documentElement.dataset.busy = fetching ? "yes" : "no"; }, [fetching]);
  return <>
    <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the content</a>
    <header className="top">
      <a className="brand" href="#/now">Goldsmith</a>
      <nav aria-label="Views">{VIEWS.map(([name, title]) => <a key={name} href={`#/${name}`} aria-current={current === name ? "page" : undefined}>{title}</a>)}</nav>
      <div className="tools">
        <button className="plain" onClick={() => setOpen("search")}>Search <kbd>⌘K</kbd></button>
        <button className="plain" aria-label="Keyboard help" onClick={() => setOpen("help")}>?</button>
        <button className="plain" onClick={() => setTheme(theme === "" ? "dark" : theme === "dark" ? "light" : "")}>{theme === "" ? "System" : theme === "dark" ? "Dark" : "Light"}</button>
        <span className="quiet">{session.owner} · {session.role}</span>
        <button className="plain" onClick={() => void signOut()}>Sign out</button>
      </div>
    </header>
    {lost && <div className="banner lost" role="status">Reconnecting to the service. What you see may be old.</div>}
    {!!stops.data?.length && current !== "control" && current !== "now" && <details className="banner held"><summary>{stops.data.length === 1 ? "1 thing is" : `${stops.data.length} things are`} stopped</summary><StopList flags={stops.data} /></details>}
    <main id="main" tabIndex={-1}><Suspense fallback={<p className="quiet">Loading…</p>}><View /></Suspense></main>
    {open === "search" && <Search close={() => setOpen(null)} />}
    {open === "help" && <Dialog title="Keyboard" close={() => setOpen(null)}><dl className="keys"><dt><kbd>⌘K</kbd> <kbd>/</kbd></dt><dd>Search</dd><dt><kbd>?</kbd></dt><dd>This help</dd><dt><kbd>Esc</kbd></dt><dd>Close a dialog</dd>{VIEWS.map(([name, title, key]) => [<dt key={name}><kbd>g</kbd> <kbd>{key}</kbd></dt>, <dd key={title}>{title}</dd>])}</dl></Dialog>}
  </>;
}

function Search({ close }: { close: () => void }) {
  const [wanted, setWanted] = useState("");
  const pipelines = useAll<{ pipeline_id: string; description: string | null }>("/catalog/tables/pipelines?limit=1000");
  const datasets = useAll<{ dataset_id: string; kind: string }>("/datasets?limit=1000");
  const all = [
    ...VIEWS.map(([name, title]) => ({ kind: "view", id: title, about: "", href: `#/${name}` })),
    ...(pipelines.data ?? []).map((row) => ({ kind: "pipeline", id: row.pipeline_id, about: row.description ?? "", href: link(["pipelines", row.pipeline_id]) })),
    ...(datasets.data ?? []).map((row) => ({ kind: "dataset", id: row.dataset_id, about: row.kind, href: link(["datasets", row.dataset_id]) })),
    ...(wanted.startsWith("run-") ? [{ kind: "run", id: wanted, about: "", href: link(["runs", wanted]) }] : []),
  ];
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter((entry) => words.every((word) => `${entry.kind} ${entry.id} ${entry.about}`.toLowerCase().includes(word))).slice(0, 30);
  return <Dialog title="Search" close={close}>
    <form onSubmit={(event) => { event.preventDefault(); if (found[0]) { location.hash = found[0].href; close(); } }}>
      <input autoFocus type="search" aria-label="Search" placeholder="A pipeline, a dataset, a view, or the id of a run" value={wanted} onChange={(event) => setWanted(event.target.value)} />
    </form>
    <ul className="found">{found.map((entry) => <li key={entry.href}><a href={entry.href} onClick={close}><span className="quiet">{entry.kind}</span> <b>{entry.id}</b> <span className="quiet">{entry.about}</span></a></li>)}</ul>
    {found.length === 0 && <p className="empty">Nothing has that name.</p>}
  </Dialog>;
}

function SignIn({ done }: { done: () => void }) {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<Error | null>(null);
  const send = async () => {
    try {
      keepCsrf((await post<Session>("/session", { key: key.trim() })).csrf_token);
      done();
    } catch (error) {
      setProblem(error as Error);
    }
  };
  return <main className="signin"><h1>Goldsmith</h1>
    <p>Follow the one-time link that <code>goldsmith serve</code> printed, or sign in with a key of <code>goldsmith keys create</code>.</p>
    <form onSubmit={(event) => { event.preventDefault(); void send(); }}><label>Key<input type="password" autoComplete="off" value={key} onChange={(event) => setKey(event.target.value)} /></label><Refusal problem={problem} /><button className="main" disabled={!key.trim()}>Sign in</button></form>
  </main>;
}

function App() {
  const session = useQuery<Session | null, Problem>({
    queryKey: ["session"], staleTime: 600_000,
    queryFn: async () => {
      try {
        const found = await get<Session>("/session");
        keepCsrf(found.csrf_token);
        return found;
      } catch (error) {
        if (error instanceof Problem && error.status === 401) return null;
        throw error;
      }
    },
  });
  if (session.error) return <main className="signin"><h1>Goldsmith</h1><Refusal problem={session.error} /><button onClick={() => void session.refetch()}>Try again</button></main>;
  if (session.data === undefined) return null;
  return session.data === null ? <SignIn done={() => void session.refetch()} /> : <Page session={session.data} />;
}

const client = new QueryClient({ defaultOptions: { queries: { retry: (failures, error) => failures < 2 && !(error instanceof Problem && error.status < 500), staleTime: 2000 } } });
createRoot(document.getElementById("root")!).render(<StrictMode><QueryClientProvider client={client}><App /></QueryClientProvider></StrictMode>);
