import { useEffect, useState, type ReactElement } from "react";
import { get } from "../api/gateway.ts";
import type { RunRecord } from "../api/run-record.ts";
import { SIGNED, signatureState, type SignatureState } from "../api/signature.ts";
import { Notice } from "../screen/notice.tsx";
import { EvidenceFile } from "./evidence-file.tsx";
import { sentenceOf } from "./sentence.ts";
import { useEvidence } from "./use-evidence.ts";

/** The Directors' decisions with their signatures, checked here, and every file of the evidence. */
export function EvidenceTab({ records }: { readonly records: readonly RunRecord[] }): ReactElement {
  const { bundles, refusal } = useEvidence(records);
  const runId = records[0]?.runId ?? "";
  return (
    <>
      <Signatures records={records} />
      {refusal !== null && <Notice refusal={refusal} />}
      {bundles?.map((bundle) => (
        <section key={`${bundle.kind} ${bundle.taskId} ${bundle.epoch}`} className="card">
          <h2>
            {bundle.taskId}, attempt {bundle.epoch}: {bundle.kind === "verdict" ? "clean room" : "attempt"}
          </h2>
          <p className="quiet">
            manifest <code>{bundle.digest}</code>
          </p>
          {bundle.manifest.files.map(({ path }) => (
            <EvidenceFile key={path} runId={runId} bundle={bundle} path={path} />
          ))}
        </section>
      ))}
    </>
  );
}

function Signatures({ records }: { readonly records: readonly RunRecord[] }): ReactElement | null {
  const [states, setStates] = useState<ReadonlyMap<number, SignatureState>>(new Map());
  const decisions = records.filter(({ type }) => SIGNED.has(type));
  const lastSeq = decisions.at(-1)?.seq ?? 0;
  useEffect(() => {
    let isShown = true;
    const check = async (): Promise<void> => {
      const { keys } = await get("/keys", {});
      const checked = await Promise.all(
        decisions.map(async (record) => [record.seq, await signatureState(record, keys)] as const),
      );
      if (isShown) setStates(new Map(checked));
    };
    check().catch(() => isShown && setStates(new Map(decisions.map(({ seq }) => [seq, "not checked"]))));
    return () => {
      isShown = false;
    };
    // oxlint-disable-next-line react/exhaustive-deps -- decisions only grow, and lastSeq changes when they do
  }, [lastSeq]);
  if (decisions.length === 0) return null;
  return (
    <section className="card">
      <h2>Decisions of the Director</h2>
      <ul className="checks">
        {decisions.map((record) => {
          const state = states.get(record.seq) ?? "checking";
          return (
            <li key={record.seq}>
              {sentenceOf(record)}{" "}
              <span className={`status ${state === "verified" ? "succeeded" : "waiting_input"}`}>
                {state === "verified" ? "signature verified here" : state}
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
