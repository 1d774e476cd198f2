/** One run: what it is doing, what waits for a person, and its log, change, checks, evidence and records at any time. */
import { lazy, Suspense, useMemo, useState, type ReactElement } from "react";
import { factsOf } from "@antiphon/run/facts/facts-fold";
import { runView } from "@antiphon/run/view/run-view";
import { harmless } from "../screen/harmless.ts";
import { Notice } from "../screen/notice.tsx";
import { Decision } from "./decision.tsx";
import { EvidenceTab } from "./evidence-tab.tsx";
import { ChecksTab } from "./checks-tab.tsx";
import { LogTab } from "./log-tab.tsx";
import { closingWords } from "./closing-words.ts";
import { narrowedSentence } from "./narrowed.ts";
import { Race } from "./race.tsx";
import { RecordsTab } from "./records-tab.tsx";
import { RunHeader } from "./run-header.tsx";
import { Tasks } from "./tasks.tsx";
import { Tell } from "./tell.tsx";
import { TimeSlider } from "./time-slider.tsx";
import { useRun } from "./use-run.ts";

const ChangeTab = lazy(() => import("./change-tab.tsx"));

const TABS = ["log", "change", "checks", "evidence", "records"] as const;
type Tab = (typeof TABS)[number];

export default function RunPage({ runId }: { readonly runId: string }): ReactElement {
  const { records, output, connected, refusal } = useRun(runId);
  const [chosenTab, setTab] = useState<Tab | null>(null);
  /** How many records are shown; null: all, also those to come. */
  const [upTo, setUpTo] = useState<number | null>(null);
  const shown = useMemo(() => (upTo === null ? records : records.slice(0, upTo)), [records, upTo]);
  const facts = useMemo(() => factsOf(shown), [shown]);
  const view = useMemo(() => runView(facts), [facts]);
  const isOver = records.at(-1)?.type === "closed";
  const isDecided = view.steps.some(({ approval }) => approval?.state === "pending");
  const tab = chosenTab ?? (isOver || isDecided ? "change" : "log");

  if (refusal !== null) return <Notice refusal={refusal} />;
  const [intent] = shown;
  if (intent?.type !== "intent") return <p className="quiet">Reading the run…</p>;
  const narrowed = narrowedSentence(intent.body);
  const why = closingWords(facts, view);
  const { race } = intent.body.options;
  return (
    <article>
      <RunHeader
        records={shown}
        facts={facts}
        view={view}
        isLive={upTo === null}
        connected={connected || isOver}
      />
      <h1 className="goal">{harmless(intent.body.intent.goal)}</h1>
      {why !== null && <p className="why">{harmless(why)}</p>}
      {race !== undefined && <Race race={race} runId={runId} />}
      {narrowed !== null && <p className="quiet">{narrowed}</p>}
      <TimeSlider records={records} upTo={upTo} onChange={setUpTo} />
      {upTo === null && <Decision runId={runId} view={view} requester={intent.body.principal} />}
      <Tasks {...view} />
      {upTo === null && <Tell runId={runId} records={records} />}
      <div role="tablist" aria-label="Parts of the run" className="tabs">
        {TABS.map((one) => (
          <button key={one} type="button" role="tab" aria-selected={tab === one} onClick={() => setTab(one)}>
            {one}
          </button>
        ))}
      </div>
      <div role="tabpanel" aria-label={tab}>
        {tab === "log" && <LogTab output={output} isOver={isOver} />}
        {tab === "change" && (
          <Suspense fallback={<p className="quiet">Reading the change…</p>}>
            <ChangeTab records={shown} />
          </Suspense>
        )}
        {tab === "checks" && <ChecksTab records={shown} />}
        {tab === "evidence" && <EvidenceTab records={shown} />}
        {tab === "records" && <RecordsTab records={shown} />}
      </div>
    </article>
  );
}
