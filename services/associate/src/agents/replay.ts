/**
 * The replay agent looks up a recorded session by the replay key of RFC 000, so that the same goal, task and seed get the
 * same answer without a model. The recorded patch is treated like any other patch, and the transcript goes into the evidence.
 */
import { AntiphonError, PLAN_FILE, replayKey, validate } from "@antiphon/contracts";
import type { AgentOf, DirectorTask, OCCompileOutput, Patch } from "@antiphon/contracts";
import { NO_CHANGE } from "../ports.ts";
import type { Agent, AgentContext, Change, PreparedWork } from "../ports.ts";
import { changeOf } from "./patched.ts";

export function replayAgent(spec: AgentOf<"replay">): Agent {
  return {
    async prepare(context) {
      const { intent, task } = context.dispatch;
      const key = replayKey({
        intent: { goal: intent.goal, task_id: task.task_id },
        schemaVersion: 0,
        seed: spec.seed,
      });
      const recording = await context.recordings.find(key);
      if (recording === null) {
        throw new AntiphonError(
          "ANT_RECORDING_NOT_FOUND",
          `no recorded session under ${key} (goal ${JSON.stringify(intent.goal.slice(0, 80))}, ` +
            `task ${task.task_id}, seed ${JSON.stringify(spec.seed)})`,
          { data: { key } },
        );
      }
      return replayed(recording, key, context);
    },
  };
}

/** Throws ANT_AGENT_FAILED when it is no session, and ANT_PATCH_* when its patch does not apply. */
async function replayed(recording: unknown, key: string, context: AgentContext): Promise<PreparedWork> {
  const { output, patch } = sessionOf(recording, key);
  return {
    kind: "work",
    change: withPlan(await recorded(patch, context), output.plan, context.dispatch.task),
    steps: [],
    selfVerify: true,
    transcript: `${JSON.stringify({ key, transcript: output.transcript }, null, 2)}\n`,
    note: `replayed the recorded session ${key.slice(0, 12)}`,
  };
}

/** A session that only planned has no diff. */
function recorded(patch: Patch, context: AgentContext): Promise<Change> {
  const only = context.dispatch.task.return.artifacts.length > 0 && patch.files.length === 0;
  return only ? Promise.resolve(NO_CHANGE) : changeOf(patch, context);
}

/** A session that planned returns its plan beside the patch; a PLAN task wants it as a file. JSON is YAML. */
function withPlan(change: Change, plan: unknown, { return: wanted }: DirectorTask): Change {
  const isWritten = change.files.some(({ path }) => path === PLAN_FILE);
  const isPlan = typeof plan === "object" && plan !== null;
  if (!wanted.artifacts.includes(PLAN_FILE) || isWritten || !isPlan) return change;
  const content = Buffer.from(`${JSON.stringify(plan, null, 2)}\n`, "utf8");
  return { ...change, files: [...change.files, { path: PLAN_FILE, mode: "100644", content }] };
}

/** A recording is `{input, output}`, as the OpenCode adapter stores it, or only the output. */
function sessionOf(recording: unknown, key: string): { output: OCCompileOutput; patch: Patch } {
  const wrapped = typeof recording === "object" && recording !== null && "output" in recording;
  const output = validate("OCCompileOutput", wrapped ? recording.output : recording);
  const patch = output.ok ? validate("Patch", output.value.patch) : output;
  if (output.ok && patch.ok) return { output: output.value, patch: patch.value };
  const [first] = patch.ok ? [] : patch.errors;
  throw new AntiphonError(
    "ANT_AGENT_FAILED",
    `the recorded session ${key} is invalid: ${first?.path ?? ""} ${first?.message ?? ""}`,
  );
}
