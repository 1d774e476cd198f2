import type { ReactElement } from "react";
import type { EvidenceBundle, RunRecord } from "../api/run-record.ts";
import { harmless } from "../screen/harmless.ts";
import { Notice } from "../screen/notice.tsx";
import { duration } from "../screen/time.ts";
import { EvidenceFile } from "./evidence-file.tsx";
import { useEvidence } from "./use-evidence.ts";

/** What the clean rooms ran, newest first; below it what the attempts ran themselves, which decides nothing. */
export function ChecksTab({ records }: { readonly records: readonly RunRecord[] }): ReactElement {
  const { bundles, refusal } = useEvidence(records);
  if (refusal !== null) return <Notice refusal={refusal} />;
  if (bundles === null) return <p className="quiet">Reading the evidence…</p>;
  if (bundles.length === 0) return <p className="quiet">Nothing was checked yet.</p>;
  const runId = records[0]?.runId ?? "";
  const ordered = bundles
    .toReversed()
    .sort((a, b) => Number(b.kind === "verdict") - Number(a.kind === "verdict"));
  return (
    <>
      {ordered.map((bundle) => (
        <section key={`${bundle.kind} ${bundle.taskId} ${bundle.epoch}`} className="card">
          <h2>
            {bundle.taskId}, attempt {bundle.epoch}:{" "}
            {bundle.kind === "verdict" ? `clean room ${bundle.manifest.decision}` : "the agent's own checks"}
          </h2>
          <p>{harmless(bundle.manifest.summary)}</p>
          <Checks runId={runId} bundle={bundle} />
        </section>
      ))}
    </>
  );
}

function Checks({
  runId,
  bundle,
}: {
  readonly runId: string;
  readonly bundle: EvidenceBundle;
}): ReactElement {
  return (
    <ul className="checks">
      {bundle.manifest.checks.map((check, i) => (
        <li key={`${i} ${check.command}`}>
          <code>{harmless(check.command)}</code>{" "}
          <span className={check.exit_code === 0 ? "status succeeded" : "status failed"}>
            {check.timed_out ? "timed out" : check.exit_code === null ? "killed" : `exit ${check.exit_code}`}
          </span>{" "}
          <span className="quiet">{duration(check.duration_ms)}</span>
          {check.stdout_path !== null && (
            <EvidenceFile runId={runId} bundle={bundle} path={check.stdout_path} title="output" />
          )}
          {check.stderr_path !== null && (
            <EvidenceFile runId={runId} bundle={bundle} path={check.stderr_path} title="errors" />
          )}
        </li>
      ))}
    </ul>
  );
}
