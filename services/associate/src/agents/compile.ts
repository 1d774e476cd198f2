/**
 * An agent that compiles, as RFC 000 has it: it is asked with an OCCompileInput and answers with plan, patch, tests and
 * transcript. A request that was answered before, with a change that the clean room has passed, is not asked again. Such a
 * change is judged like any other.
 *
 * The replay key holds all that decides the answer, so that nobody else's settings can: the tenant, the base, the task, what
 * is told, the agent, the image, the environment.
 */
import { AntiphonError, digestOfJson, replayKey } from "@antiphon/contracts";
import type { AgentOf, OCCompileInput } from "@antiphon/contracts";
import { COMPILE_FILE } from "../evidence/compile-step.ts";
import { NO_CHANGE } from "../ports.ts";
import type { AgentContext, Change, Preparation } from "../ports.ts";
import type { KeptSession } from "../evidence/compile-answer.ts";
import { isOwnFault } from "../attempt/fault.ts";
import { packWork } from "./pack-work.ts";
import { promptOf } from "./prompt.ts";

/** The first version of the schemas of RFC 000. */
const SCHEMA_VERSION = 0;
const DEFAULT_SEED = "0";

export function compileInput(
  spec: AgentOf<"pack">,
  { dispatch, epoch, ...diffs }: AgentContext,
): OCCompileInput {
  const { seed = DEFAULT_SEED, ...agent } = spec;
  const { intent, task, base, environment, history } = dispatch;
  const { image, env, memory_mib, services, scope, grants, tenant } = dispatch;
  const settings = { agent, task, image, env, memory_mib, services, scope, grants, tenant };
  const all = {
    ...settings,
    base: [base.commit, base.tree, base.linked],
    environment: [environment?.commands, environment?.inputs],
    history: [history?.commits, history?.cut],
  };
  const prompt = promptOf(dispatch, epoch, diffs);
  return {
    intent: { goal: intent.goal, task_id: task.task_id, prompt, settings: digestOfJson(all) },
    schemaVersion: SCHEMA_VERSION,
    seed,
  };
}

export async function compileWork(spec: AgentOf<"pack">, context: AgentContext): Promise<Preparation> {
  const input = compileInput(spec, context);
  const key = replayKey(input);
  const before = context.mayReuse ? await answeredBefore(key, context) : null;
  if (before !== null) return before;
  return {
    ...packWork(spec, { stdin: JSON.stringify(input), env: { ANTIPHON_COMPILE_FILE: COMPILE_FILE } }),
    compiles: { key, input },
  };
}

/** Null: nobody has answered, or the change does not apply. */
async function answeredBefore(key: string, context: AgentContext): Promise<Preparation | null> {
  const session = await context.compiled.find(key);
  if (session === null) return null;
  try {
    const change = await changeOf(session, context);
    return {
      kind: "work",
      change,
      steps: [],
      selfVerify: true,
      transcript: `${JSON.stringify({ key, transcript: session.output.transcript }, null, 2)}\n`,
      note: `took the answer of the session ${key.slice(0, 12)}`,
    };
  } catch (thrown) {
    if (!isOwnFault(AntiphonError.from(thrown).code)) throw thrown;
    return null;
  }
}

async function changeOf({ change: { diff, files } }: KeptSession, context: AgentContext): Promise<Change> {
  const { trees, dispatch } = context;
  const applied = diff === null ? NO_CHANGE : await trees.apply(dispatch.base, diff);
  const left = files.map(({ path, text }) => ({
    path,
    mode: "100644" as const,
    content: Buffer.from(text, "utf8"),
  }));
  return { ...applied, files: [...applied.files, ...left] };
}
