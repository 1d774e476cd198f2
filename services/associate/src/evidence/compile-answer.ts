/**
 * The answer of an agent that compiles: `{input, output}` in a file of the sandbox, which a step prints after the work. It is
 * a claim of the agent. Its patch is replaced by the diff that was made outside the sandbox, so that a session that is
 * replayed gives exactly the change that was checked.
 */
import { validate } from "@antiphon/contracts";
import type { OCCompileInput, OCCompileOutput, TreeRef } from "@antiphon/contracts";
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import type { BaseTrees, Diff, EvidenceStore } from "../ports.ts";
import type { Artifact } from "./artifacts.ts";
import type { BundleFile } from "./bundle.ts";
import { COMPILE_STEP } from "./compile-step.ts";
import type { Ran } from "./proposal.ts";
import type { Ending } from "./report.ts";

export interface Session {
  readonly input: OCCompileInput;
  readonly output: OCCompileOutput;
}

/** What the agent answered; null: it was asked nothing, or failed before its answer. */
export async function answerOf(
  { work, outcome, ending }: Pick<Ran, "work" | "outcome" | "ending">,
  evidence: Pick<EvidenceStore, "text">,
): Promise<{ session: Session } | { fault: Ending } | null> {
  const input = work?.compiles?.input;
  const hasFailed = outcome?.steps.some(({ id, exitCode }) => id.startsWith("work-") && exitCode !== 0);
  if (input === undefined || outcome === null || ending.kind !== "ran" || hasFailed === true) return null;
  const printed = outcome.steps.find(({ id }) => id === COMPILE_STEP)?.stdout;
  const said = printed?.blob
    ? await evidence.text({ path: COMPILE_STEP, blob: printed.blob })
    : printed?.tail;
  const output = validate("OCCompileOutput", outputIn(said ?? ""));
  if (output.ok) return { session: { input, output: output.value } };
  const [first] = output.errors;
  const message = `it left no answer of OpenCode's format: ${first?.path ?? ""} ${first?.message ?? ""}`;
  return { fault: { kind: "stopped", code: "ANT_AGENT_FAILED", message } };
}

/** Undefined for a text that holds no output; the validation says so. */
function outputIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "output" in value ? value.output : undefined;
  } catch {
    return undefined;
  }
}

/** The session with the change as it was made and checked here, and with the files that the task was to leave. */
export async function checkedSession(
  { input, output }: Session,
  diff: Diff | null,
  artifacts: readonly Artifact[],
  { trees, base }: { trees: Pick<BaseTrees, "diff">; base: TreeRef },
): Promise<Session> {
  const files = artifacts.flatMap(({ path, file }) =>
    "text" in file ? [{ path, mode: "100644" as const, content: Buffer.from(file.text, "utf8") }] : [],
  );
  const left = files.length === 0 ? null : await trees.diff(base, { files, deletions: [] });
  const patches = [diff?.patch ?? "", left?.patch ?? ""];
  return { input, output: { ...output, patch: { files: patches.flatMap((patch) => splitDiff(patch)) } } };
}

/** Request and answer in the bundle; the request alone, if there is no answer. */
export function compileFiles(input: OCCompileInput | undefined, session: Session | null): BundleFile[] {
  if (input === undefined) return [];
  return [{ path: "compile.json", text: `${JSON.stringify(session ?? { input }, null, 2)}\n` }];
}
