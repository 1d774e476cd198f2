/**
 * Tells an attempt the results of the tasks that it depends on: the summary of each, and the output of those that only read.
 * Both come from their evidence. They only help the agent, so an attempt does without them if they cannot be read.
 */
import type { DispatchBody, EarlierTask, EvidenceFile } from "@antiphon/contracts";
import type { AttemptPorts } from "../ports.ts";
import type { Earlier } from "./brief.ts";

const SUMMARY_CHARS = 2048;
const OUTPUT_CHARS = 4096;

/** The commands of an attempt, in its bundle. */
const WORK = /^work\/(\d+)\.stdout\.txt$/;

export async function earlierOf(
  { runId, dispatch: { earlier = [] } }: { readonly runId: string; readonly dispatch: DispatchBody },
  { evidence, log }: Pick<AttemptPorts, "evidence" | "log">,
): Promise<Earlier[]> {
  try {
    const told = await Promise.all(earlier.map((one) => tell(runId, one, evidence)));
    return told.filter((one) => one !== null);
  } catch (error) {
    log.warn({ err: error, run: runId }, "what the tasks before have left cannot be read");
    return [];
  }
}

/** Null: it left no evidence. */
async function tell(
  runId: string,
  { task, epoch, kind, commit }: EarlierTask,
  evidence: AttemptPorts["evidence"],
): Promise<Earlier | null> {
  const bundle = await evidence.bundleOf(runId, task, epoch);
  if (bundle === null) return null;
  const about = { task, kind, commit, summary: bundle.summary.slice(0, SUMMARY_CHARS) };
  if (kind === "edit_repo") return about;
  const numberOf = ({ path }: EvidenceFile): number => Number(WORK.exec(path)?.[1] ?? 0);
  const last = bundle.files
    .filter((file) => numberOf(file) > 0)
    .sort((a, b) => numberOf(a) - numberOf(b))
    .at(-1);
  const output = last === undefined ? "" : (await evidence.text(last)).trim();
  return output === "" ? about : { ...about, output: output.slice(-OUTPUT_CHARS) };
}
