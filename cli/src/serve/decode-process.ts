// The program behind bin/antiphon-decode.mjs: reads one message on stdin and prints its JSON. It imports only the codec and the screen,
// because `nats sub --translate` starts it once per message.
import { readFileSync } from "node:fs";
import { openScreen } from "../screen/screen.ts";
import { processTerminal } from "../screen/terminal.ts";
import { decodeForReading } from "../screen/wire-text.ts";

export function main(args: readonly string[]): void {
  openScreen(false, processTerminal()).text(decodeForReading(readFileSync(0), args.includes("--pretty")));
}
