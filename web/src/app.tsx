/** The page of a deployment: its runs, one run, and what whoever is on call needs. Served by the gateway, without a CDN. */
import { lazy, Suspense, useState, type ReactElement } from "react";
import { OperationsPage } from "./operations/operations-page.tsx";
import { RunsPage } from "./runs/runs-page.tsx";
import { harmless } from "./screen/harmless.ts";
import { useRoute } from "./screen/route.ts";
import { SignIn } from "./screen/sign-in.tsx";
import { usePolled, type Pace } from "./screen/polled.ts";
import { Notices } from "./waiting/notices.tsx";
import { LOOKED_AT } from "./waiting/waiting-runs.ts";

/** Loaded when a run is opened: the list needs nothing of the fold of a run. */
const RunPage = lazy(() => import("./run/run-page.tsx"));
const SessionPage = lazy(() => import("./session/session-page.tsx"));

/** Somebody who works in another tab hears of a run that waits within half a minute; browsers allow a hidden one no more. */
const PACE: Pace = { seen: 10_000, unseen: 30_000 };

/** Services answer the gateway first. */
const STORAGE_PACE: Pace = { seen: 15_000, unseen: 300_000 };

export function App(): ReactElement {
  const route = useRoute();
  const [signedIn, setSignedIn] = useState(0);
  return (
    <>
      <header className="top">
        <a className="name" href="#/">
          Antiphon
        </a>
        <nav aria-label="Pages">
          <a href="#/" aria-current={route.page === "operations" ? undefined : "page"}>
            Runs
          </a>
          <a href="#/operations" aria-current={route.page === "operations" ? "page" : undefined}>
            Operations
          </a>
        </nav>
      </header>
      <Guarded key={signedIn} onSignedIn={() => setSignedIn((count) => count + 1)}>
        {route.page === "run" ? (
          <Suspense fallback={<p className="quiet">Reading the run…</p>}>
            <RunPage key={route.runId} runId={route.runId} />
          </Suspense>
        ) : route.page === "session" ? (
          <Suspense fallback={<p className="quiet">Reading the session…</p>}>
            <SessionPage key={route.sessionId} sessionId={route.sessionId} />
          </Suspense>
        ) : route.page === "operations" ? (
          <OperationsPage />
        ) : (
          <RunsPage />
        )}
      </Guarded>
    </>
  );
}

/** Shows the page once the gateway answers this person. */
function Guarded({
  children,
  onSignedIn,
}: {
  readonly children: ReactElement;
  readonly onSignedIn: () => void;
}): ReactElement | null {
  const { data, refusal } = usePolled("/runs", { limit: LOOKED_AT }, PACE);
  const storage = usePolled("/services", {}, STORAGE_PACE).data?.storage ?? null;
  if (refusal?.needsToken === true) return <SignIn onSignedIn={onSignedIn} />;
  if (data === null && refusal === null) return null;
  return (
    <main>
      {refusal !== null && (
        <p className="banner" role="status">
          {refusal.message}. {refusal.remedy}
        </p>
      )}
      {storage !== null && (
        <p className="banner" role="status">
          {harmless(storage.message)} <code>{harmless(storage.code)}</code>. {storage.remedy}
        </p>
      )}
      {children}
      {data !== null && <Notices runs={data.runs} />}
    </main>
  );
}
