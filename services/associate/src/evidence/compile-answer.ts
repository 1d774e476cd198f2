/**
 * The answer of an agent that compiles: `{input, output}` in a file of the sandbox, which a step prints after the work. It is
 * a claim of the agent. Its patch is replaced by the diff that was made outside the sandbox, so that a session that is
 * used again gives exactly the change that was checked.
 */
import { validate } from "@antiphon/contracts";
import type { OCCompileInput, OCCompileOutput, PatchFile } from "@antiphon/contracts";
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import type { Diff, EvidenceStore } from "../ports.ts";
import type { Artifact } from "./artifacts.ts";
import type { BundleFile } from "./bundle.ts";
import { COMPILE_STEP } from "./compile-step.ts";
import type { Ran } from "./ran.ts";
import type { Ending } from "./attempt-facts.ts";

export interface Session {
  readonly input: OCCompileInput;
  readonly output: OCCompileOutput;
}

/** As the evidence has it, and as the same request finds it again. */
export interface KeptSession extends Session {
  readonly change: {
    /** Null: no file of the repository changed. */
    readonly diff: string | null;
    /** The files that the task was to leave. */
    readonly files: readonly { readonly path: string; readonly text: string }[];
  };
}

export const COMPILE_EVIDENCE = "compile.json";

/** Reads the answer of the agent. Null: it was asked nothing, or failed before it answered. */
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

/**
 * The session with the change as it was made and collected here, byte by byte, and with the files that the task was to
 * leave; its patch says the same for people. Null: it changed and left nothing, so there is nothing to keep.
 */
export async function keptSession(
  { input, output }: Session,
  diff: Diff | null,
  artifacts: readonly Artifact[],
  evidence: Pick<EvidenceStore, "text">,
): Promise<KeptSession | null> {
  if (diff === null && artifacts.length === 0) return null;
  const files = await Promise.all(
    artifacts.map(async ({ path, file }) => ({
      path,
      text: "text" in file ? file.text : await evidence.text(file),
    })),
  );
  const patch = { files: diff === null ? [] : sectionsOf(diff.patch) };
  return { input, output: { ...output, patch }, change: { diff: diff?.patch ?? null, files } };
}

/** Sections of git's own diff, in which no line of content begins like a header. Nothing in them is altered. */
function sectionsOf(patch: string): PatchFile[] {
  return patch.split(/(?<=\n)(?=diff --git )/).flatMap((diff) => {
    const [named] = splitDiff(diff);
    return named === undefined ? [] : [{ path: named.path, diff }];
  });
}

/** Request and answer in the bundle; the request alone, if there is no answer. */
export function compileFiles(
  input: OCCompileInput | undefined,
  session: Session | KeptSession | null,
): BundleFile[] {
  if (input === undefined) return [];
  return [{ path: COMPILE_EVIDENCE, text: `${JSON.stringify(session ?? { input }, null, 2)}\n` }];
}
