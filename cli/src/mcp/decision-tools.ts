// The tools by which a person answers a run. They act under the name of the gateway's token, so the rules for people hold:
// the requester of a run does not count among its approvers.
import { z } from "zod";
import { usage } from "../failure.ts";
import { pendingChange } from "../runs/pending-change.ts";
import { ACTS, answering, DECIDES, inputOf, RUN_ID, TASK, type AddTool } from "./tool.ts";

const REASON = z.string().min(1).max(4_000);

export const addAnswerQuestion: AddTool = (server, context) => {
  const described = {
    title: "Answer a run's questions",
    description:
      "Answers the questions of a run that waits for input. One answer per question, in their order.",
    inputSchema: inputOf({
      run: RUN_ID,
      answers: z.array(z.string().max(8_000)).min(1).max(32),
      task: TASK.optional().describe("Which task to answer, if several are waiting."),
    }),
    annotations: ACTS,
  };
  server.registerTool(
    "answer_question",
    described,
    answering(async ({ run, answers, task }) => {
      const body = { event: "answer", answers, ...(task === undefined ? {} : { task }) };
      return (await context.gateway()).post("/runs/{id}/events", { id: run }, body);
    }),
  );
};

export const addDecide: AddTool = (server, context) => {
  const described = {
    title: "Approve or reject a change",
    description:
      "Records a person's decision about a verified change that waits to land: approve lets it land, reject ends the task unlanded, changes sends it back with the reason as feedback. Ask the person first; do not decide for them.",
    inputSchema: inputOf({
      run: RUN_ID,
      decision: z.enum(["approve", "reject", "changes"]),
      reason: REASON.optional().describe("Why, for the record; required for changes."),
      task: TASK.optional().describe("Which task to decide about, if several are waiting."),
      verdict: z
        .string()
        .max(128)
        .optional()
        .describe("The digest of the verdict that the person saw, from get_run. Default: the waiting one."),
    }),
    annotations: DECIDES,
  };
  server.registerTool(
    "decide_change",
    described,
    answering(async ({ run, decision, reason, task, verdict }) => {
      if (decision === "changes" && reason === undefined)
        throw usage("changes needs a reason", "say what to change: it is the feedback for the next attempt");
      const gateway = await context.gateway();
      const seen = verdict ?? (await pendingChange(gateway, run, task))?.verdict;
      return gateway.post(
        "/runs/{id}/events",
        { id: run },
        {
          event: "approval",
          choice: decision,
          ...(reason === undefined ? {} : { reason }),
          ...(task === undefined ? {} : { task }),
          ...(seen === undefined ? {} : { verdict: seen }),
        },
      );
    }),
  );
};
