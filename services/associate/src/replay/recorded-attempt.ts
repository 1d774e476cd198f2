/** The record of an attempt: its dispatch, its outcome, and its model calls. */
import { ALL_CALLS, AntiphonError } from "@antiphon/contracts";
import type { BlobRef, DispatchBody, EvidenceFile, EvidenceManifest, ForkPoint } from "@antiphon/contracts";
import type { Journal } from "@antiphon/runtime";
import type { Told } from "../attempt/mailbox.ts";
import { DIFF_FILE } from "../evidence/bundle.ts";
import type { EvidenceStore } from "../ports.ts";
import type { Recorded } from "./comparison.ts";

export interface RecordedAttempt extends Recorded {
  readonly dispatch: DispatchBody;
  /** Recordings of its model calls, oldest first. */
  readonly calls: readonly BlobRef[];
  /** The messages of people that it was given, with the look that read each; 0: its brief had it. */
  readonly heard: readonly (Told & { readonly look: number })[];
  /** The digest of the image of its sandbox; null: it had no sandbox. */
  readonly image: string | null;
}

/**
 * The recordings of an attempt's first model calls.
 * @throws AntiphonError ANT_REPLAY_NO_RECORD if it has fewer, unless `calls` stands for all of them
 */
export async function recordedCalls(
  { run, task, epoch, calls }: ForkPoint,
  evidence: Pick<EvidenceStore, "bundleOf">,
): Promise<readonly BlobRef[]> {
  if (calls === 0) return [];
  const bundle = await evidence.bundleOf(run, task, epoch);
  const all = bundle === null ? [] : callsIn(bundle);
  if (all.length === 0 || (calls !== ALL_CALLS && all.length < calls))
    throw unrecorded({ run, task, epoch }, `has ${all.length} recorded model calls`);
  return all.slice(0, calls);
}

function callsIn({ files }: EvidenceManifest): BlobRef[] {
  return files.filter(({ path }) => CALL.test(path)).map(({ blob }) => blob);
}

export interface AttemptName {
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
}

const CALL = /^egress\/model-\d+\.json$/;
const ARTIFACTS = "artifacts/";

/** Throws ANT_REPLAY_NO_RECORD. */
export async function recordedAttempt(
  name: AttemptName,
  journal: Pick<Journal, "find">,
  evidence: Pick<EvidenceStore, "bundleOf" | "text">,
): Promise<RecordedAttempt> {
  const { run, task, epoch } = name;
  const [dispatch, result, bundle] = await Promise.all([
    journal.find("dispatch", run, task, epoch),
    journal.find("result", run, task, epoch),
    evidence.bundleOf(run, task, epoch),
  ]);
  if (dispatch?.type !== "dispatch") throw unrecorded(name, "was never dispatched");
  if (result?.type !== "result" || result.body.kind !== "reported" || bundle === null)
    throw unrecorded(name, "ended without a report");
  const calls = callsIn(bundle);
  const made = await callsMade(bundle, evidence);
  if (made > calls.length)
    throw unrecorded(name, `made ${made} model calls, of which ${calls.length} are recorded`);
  const diff = fileOf(bundle, DIFF_FILE);
  const { heard = [] } = result.body;
  return {
    heard: await Promise.all(heard.map((one) => messageHeard(name, one, journal))),
    dispatch: dispatch.body,
    calls,
    diff: diff === undefined ? null : await evidence.text(diff),
    artifacts: Object.fromEntries(
      bundle.files
        .filter(({ path }) => path.startsWith(ARTIFACTS))
        .map(({ path, blob }) => [path.slice(ARTIFACTS.length), blob.digest]),
    ),
    commands: result.body.result.commands_run,
    network: await networkOf(bundle, evidence),
    image: await imageOf(bundle, evidence),
  };
}

async function messageHeard(
  name: AttemptName,
  { message: n, look }: { readonly message: number; readonly look: number },
  journal: Pick<Journal, "find">,
): Promise<Told & { readonly look: number }> {
  const record = await journal.find("message", name.run, null, n);
  if (record?.type !== "message") throw unrecorded(name, `heard message ${n}, which is not on record`);
  return { n, by: record.body.by, text: record.body.text, look };
}

function fileOf({ files }: EvidenceManifest, path: string): EvidenceFile | undefined {
  return files.find((file) => file.path === path);
}

async function callsMade(bundle: EvidenceManifest, { text }: Pick<EvidenceStore, "text">): Promise<number> {
  const summary = fileOf(bundle, "egress/summary.json");
  if (summary === undefined) return 0;
  const { model_calls } = JSON.parse(await text(summary)) as { model_calls?: number };
  return model_calls ?? 0;
}

async function imageOf(
  bundle: EvidenceManifest,
  { text }: Pick<EvidenceStore, "text">,
): Promise<string | null> {
  const file = fileOf(bundle, "provenance/environment.json");
  if (file === undefined) return null;
  const { sandbox } = JSON.parse(await text(file)) as { sandbox?: { image?: string } | null };
  return sandbox?.image ?? null;
}

/** The first request that got an answer from anything but a model. Checkpoints stay inside. */
async function networkOf(
  bundle: EvidenceManifest,
  { text }: Pick<EvidenceStore, "text">,
): Promise<string | null> {
  const log = fileOf(bundle, "egress/requests.jsonl");
  if (log === undefined) return null;
  for (const line of (await text(log)).split("\n")) {
    if (line === "") continue;
    const { decision, rule, method, host, path } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (decision === "allow" && typeof rule === "string" && !/^(model:|checkpoint)/.test(rule))
      return `${String(method)} ${String(host)}${typeof path === "string" ? path : ""}`;
  }
  return null;
}

function unrecorded({ run, task, epoch }: AttemptName, why: string): AntiphonError {
  return new AntiphonError("ANT_REPLAY_NO_RECORD", `attempt ${epoch} of ${task} in ${run} ${why}`);
}
