// antiphon dlq list|show|requeue: lists, inspects and requeues dead letters.
import type { Command } from "commander";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { firstLine } from "../screen/short-forms.ts";
import { printList } from "../screen/list.ts";
import { table } from "../screen/table.ts";

export const addDlq: AddVerb = (program, context) => {
  const dlq = program
    .command("dlq")
    .summary("list, inspect or requeue dead letters (messages that could not be handled)");
  addList(dlq, context);
  addShow(dlq, context);
  dlq
    .command("requeue")
    .summary("deliver a dead letter again")
    .argument("<id>", "the id of the dead letter, from antiphon dlq list")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon dlq requeue router.intent.run_4f0c2k9s0x7d2m1q8z3a.-.0"]))
    .action(async (id: string, options: { json?: boolean }) => {
      const gateway = await context.gateway();
      const answer = await gateway.post("/dead-letters/{id}/requeue", { id }, undefined);
      if (options.json === true) return context.screen.json(answer);
      context.screen.out(`requeued; watch it with: antiphon events ${answer.runId}`);
    });
};

function addList(dlq: Command, context: CliContext): void {
  dlq
    .command("list")
    .summary("list the dead letters, oldest first")
    .option("--limit <n>", "maximum number to list", "100")
    .option("--after <seq>", "list only those after this sequence", "0")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon dlq list"]))
    .action(async (options: { limit: string; after: string; json?: boolean }) => {
      const gateway = await context.gateway();
      const { limit, after } = options;
      const answer = await gateway.get("/dead-letters", { limit, after });
      if (options.json === true) return context.screen.json(answer);
      if (answer.letters.length === 0) return context.screen.out("no dead letters");
      const rows = answer.letters.map(({ id, at, code, detail }) => [
        id,
        at.slice(0, 19).replace("T", " "),
        code,
        firstLine(detail).slice(0, 80),
      ]);
      printList(context.screen, ["DEAD LETTER", "AT", "CODE", "DETAIL"], rows);
      if (answer.more > 0)
        context.screen.err(
          `${answer.more} more: antiphon dlq list --after ${answer.letters.at(-1)?.seq ?? 0}`,
        );
    });
}

function addShow(dlq: Command, context: CliContext): void {
  dlq
    .command("show")
    .summary("show one dead letter")
    .argument("<id>", "the id of the dead letter, from antiphon dlq list")
    .option("--json", "print one JSON object, with the payload as base64")
    .addHelpText("after", examples(["antiphon dlq show associate.dispatch.run_4f0c2k9s0x7d2m1q8z3a.t-001.6"]))
    .action(async (id: string, options: { json?: boolean }) => {
      const gateway = await context.gateway();
      const letter = await gateway.get("/dead-letters/{id}", { id });
      if (options.json === true) return context.screen.json(letter);
      const rows: [string, string][] = [
        ["id", letter.id],
        ["at", letter.at],
        ["given up by", `${letter.consumer}, after ${letter.deliveries} deliveries`],
        ["code", letter.code],
        ["detail", letter.detail],
        ["record", `${letter.origin.subject} (seq ${letter.origin.seq})`],
        ["requeue", `antiphon dlq requeue ${letter.id}`],
      ];
      for (const row of table(rows)) context.screen.out(row);
    });
}
