// The program behind bin/antiphon-decode.mjs: reads one message on stdin and prints its JSON. It imports only the codec,
// because `nats sub --translate` starts it once per message.
import { readFileSync } from "node:fs";
import { decodeForReading } from "../screen/wire-text.ts";

export function main(args: readonly string[]): void {
  process.stdout.write(`${decodeForReading(readFileSync(0), args.includes("--pretty"))}\n`);
}
