/**
 * An agent that compiles, as RFC 000 has it: it is asked with an OCCompileInput and answers with plan, patch, tests and
 * transcript. A request that was answered before, with a change that passed its checks, is not asked again. Such a change is
 * judged like any other.
 *
 * The replay key holds all that decides the answer, so that nobody else's settings can: the tenant, the base, the task, what
 * is told, the agent, the image, the environment.
 */
import { digestOfJson, replayKey } from "@antiphon/contracts";
import type { AgentOf, OCCompileInput } from "@antiphon/contracts";
import { COMPILE_FILE } from "../evidence/compile-step.ts";
import type { AgentContext, Preparation } from "../ports.ts";
import { packWork } from "./pack-work.ts";
import { promptOf } from "./prompt.ts";
import { replayed } from "./replay.ts";

/** The first version of the schemas of RFC 000. */
const SCHEMA_VERSION = 0;
const DEFAULT_SEED = "0";

export function compileInput(
  spec: AgentOf<"pack">,
  { dispatch, epoch, ...diffs }: AgentContext,
): OCCompileInput {
  const { seed = DEFAULT_SEED, ...agent } = spec;
  const { intent, task, base, environment, image, env, memory_mib, services, scope, grants, tenant } =
    dispatch;
  const settings = { agent, task, image, env, memory_mib, services, scope, grants, tenant };
  const all = {
    ...settings,
    base: [base.commit, base.tree],
    environment: [environment?.commands, environment?.inputs],
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
  const session = context.mayReuse ? await context.compiled.find(key) : null;
  if (session !== null) return replayed(session, key, context);
  return {
    ...packWork(spec, { stdin: JSON.stringify(input), env: { ANTIPHON_COMPILE_FILE: COMPILE_FILE } }),
    compiles: { key, input },
  };
}
