// The whole of bin/antiphon-decode.mjs: one message on stdin, its JSON on stdout. It imports the codec and nothing else,
// because `nats sub --translate` starts it once for each message.
import { readFileSync } from "node:fs";
import { decodeForReading } from "../screen/wire-text.ts";

export function main(args: readonly string[]): void {
  process.stdout.write(`${decodeForReading(readFileSync(0), args.includes("--pretty"))}\n`);
}
