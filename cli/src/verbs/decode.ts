// antiphon decode: reads MessagePack on stdin and prints JSON. Made for `nats sub --translate`.
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";

export const addDecode: AddVerb = (program, context) => {
  program
    .command("decode")
    .summary("turn MessagePack on stdin into JSON on stdout")
    .option("--pretty", "indent the JSON")
    .option("--json", "no effect: the output is always JSON")
    .addHelpText(
      "after",
      examples([
        "nats sub 'antiphon.v1.>' --translate bin/antiphon-decode.mjs   # starts fast enough to follow a run",
        "nats stream get ANT_JOURNAL_0 1 --json | jq -r .data | base64 -d | antiphon decode --pretty",
      ]),
    )
    .action(async (options: { pretty?: boolean }) => {
      const { decodeForReading } = await import("../screen/wire-text.ts");
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      context.screen.text(decodeForReading(Buffer.concat(chunks), options.pretty === true));
    });
};
