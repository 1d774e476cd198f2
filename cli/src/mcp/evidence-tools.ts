// The tools that read what a run left: its change, its output and its evidence.
import { z } from "zod";
import { filePath, type Bundle } from "../evidence/evidence-view.ts";
import { patchesOf } from "../evidence/run-patches.ts";
import {
  answering,
  inputOf,
  READS,
  RUN_ID,
  TASK,
  UNTRUSTED,
  type AddTool,
  type ToolContext,
} from "./tool.ts";

const IS_LOG = /\.(stdout|stderr)\.txt$/;
/** Of one file of output. Its end tells why a check failed. */
const LOG_CHARS = 16 * 1024;

export const addGetDiff: AddTool = (server, context) => {
  const described = {
    title: "Show the change of a run",
    description: `The unified diff of each task's last attempt, whether it was accepted or not. ${UNTRUSTED}`,
    inputSchema: inputOf({ run: RUN_ID, task: TASK.optional() }),
    annotations: READS,
  };
  server.registerTool(
    "get_diff",
    described,
    answering(async ({ run, task }) => {
      const patches = await patchesOf(await context.gateway(), run, task ?? null);
      return patches.map(({ patch }) => patch).join("");
    }),
  );
};

export const addGetLogs: AddTool = (server, context) => {
  const described = {
    title: "Show the output of a run",
    description: `The output of a run's agents and checks, from the evidence of ended attempts and clean rooms; the end of each stream. ${UNTRUSTED}`,
    inputSchema: inputOf({ run: RUN_ID, task: TASK.optional() }),
    annotations: READS,
  };
  server.registerTool(
    "get_logs",
    described,
    answering(async ({ run, task }) => {
      const gateway = await context.gateway();
      const parts: string[] = [];
      for (const { taskId, epoch, kind, manifest } of await bundlesOf(context, run, task)) {
        for (const { path, blob } of manifest.files.filter((file) => IS_LOG.test(file.path))) {
          if (blob.bytes === 0) continue;
          const text = (await gateway.bytes(filePath(run, taskId, epoch, path, kind === "verdict"))).toString(
            "utf8",
          );
          const who = kind === "verdict" ? "clean room" : "attempt";
          const left = text.length > LOG_CHARS ? `[${text.length - LOG_CHARS} characters before]\n` : "";
          parts.push(`== ${taskId} ${epoch} ${who} ${path}\n${left}${text.slice(-LOG_CHARS)}`);
        }
      }
      return parts.length === 0 ? "no output yet" : parts.join("\n");
    }),
  );
};

export const addGetEvidence: AddTool = (server, context) => {
  const described = {
    title: "Read the evidence of a run",
    description: `The evidence bundles of a run: decision, base commit, changed files, checks with their exit codes, and the digests of all files. With \`file\`, the text of one file. ${UNTRUSTED}`,
    inputSchema: inputOf({
      run: RUN_ID,
      task: TASK.optional(),
      epoch: z.number().int().min(1).optional().describe("The number of an attempt."),
      file: z
        .string()
        .max(1024)
        .optional()
        .describe("A file of the bundle, such as diff.patch; needs task and epoch."),
      verdict: z.boolean().default(false).describe("The clean room's bundle instead of the agent's."),
    }),
    annotations: READS,
  };
  server.registerTool(
    "get_evidence",
    described,
    answering(async ({ run, task, epoch, file, verdict }) => {
      if (file !== undefined && task !== undefined && epoch !== undefined)
        return (await (await context.gateway()).bytes(filePath(run, task, epoch, file, verdict))).toString(
          "utf8",
        );
      const bundles = await bundlesOf(context, run, task);
      return { bundles: bundles.filter((bundle) => epoch === undefined || bundle.epoch === epoch) };
    }),
  );
};

async function bundlesOf(context: ToolContext, run: string, task: string | undefined): Promise<Bundle[]> {
  const gateway = await context.gateway();
  const { bundles } = await gateway.get("/runs/{id}/evidence", { id: run });
  return bundles.filter(({ taskId }) => task === undefined || taskId.toLowerCase() === task.toLowerCase());
}
