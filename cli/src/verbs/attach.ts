// antiphon attach <runId>: shows the attempt that is under way, its output as it comes and what it does, and sends it what its
// person types: each line is a message. A message is a record of the run; what the attempt then does with it is up to its agent.
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { inOrder } from "../runs/in-order.ts";

interface AttachFlags {
  readonly message?: string;
  readonly task?: string;
  readonly json?: boolean;
}

export const addAttach: AddVerb = (program, context) => {
  program
    .command("attach")
    .summary("watch the attempt that is under way, and tell it something")
    .argument("<runId>", "the id of the run", runId)
    .option("-m, --message <text>", "tell it this, and do not watch it")
    .option("--task <taskId>", "which task to tell it, if several are worked on")
    .option("--json", "print one JSON object per line")
    .addHelpText(
      "after",
      examples([
        "antiphon attach run_4f0c2k9s0x7d2m1q8z3a",
        'antiphon attach run_4f0c2k9s0x7d2m1q8z3a --message "keep the old name as an alias"',
      ]),
    )
    .action(async (id: string, flags: AttachFlags) => {
      const gateway = await context.gateway();
      if (flags.message === undefined) return watched(context, gateway, id, flags);
      const answer = await told(gateway, id, flags.message, flags.task);
      if (flags.json === true) return context.screen.json(answer);
      context.screen.out(
        `attempt ${answer.epoch} of ${answer.taskId} is told; watch it with: antiphon attach ${id}`,
      );
    });
};

/** The key makes a request that is sent again the same message. */
async function told(gateway: GatewayClient, id: string, text: string, task: string | undefined) {
  const body = { event: "message", text, key: randomUUID(), ...(task === undefined ? {} : { task }) };
  return gateway.post("/runs/{id}/events", { id }, body);
}

/** A line that is refused is told with its reason, and the watching goes on. */
async function watched(
  context: CliContext,
  gateway: GatewayClient,
  id: string,
  { task, json }: AttachFlags,
): Promise<void> {
  const { follow, printSummary } = await import("../runs/follow.ts");
  const { screen } = context;
  const isPerson = process.stdin.isTTY === true;
  const lines = isPerson ? createInterface({ input: process.stdin, terminal: false }) : null;
  if (isPerson && json !== true)
    screen.out("each line that you type is told to the agent; Ctrl-C ends the watching");
  const refused = (thrown: unknown): void => {
    const { code, message } = Failure.from(thrown);
    screen.err(`not told: ${code}: ${message}`);
  };
  const say = inOrder((line) => told(gateway, id, line, task), refused);
  lines?.on("line", (line) => {
    if (line.trim() !== "") void say(line);
  });
  try {
    const { kind, summary } = await follow(context, id, {
      logs: true,
      jsonLines: json === true,
      quiet: false,
    });
    const { exitCodeOf } = await import("../runs/summary.ts");
    context.setExitCode(kind === "interrupted" ? 130 : exitCodeOf(summary.status));
    if (json === true) return;
    if (kind === "interrupted") (await import("../runs/turned-away.ts")).turnedAway(context, id, "attach");
    else printSummary(context, summary);
  } finally {
    lines?.close();
  }
}
