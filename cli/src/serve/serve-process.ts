// Entry point of the children of `antiphon dev`: one service, without the command-line parser.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Failure } from "../failure.ts";
import { openScreen } from "../screen/screen.ts";
import { processTerminal } from "../screen/terminal.ts";
import { serveRole } from "./serve-role.ts";

try {
  await serveRole(process.argv[2] ?? "", dirname(fileURLToPath(import.meta.url)), true);
} catch (thrown) {
  const failure = Failure.from(thrown);
  const { code, message, remedy } = failure;
  openScreen(false, processTerminal()).logJson({ level: "fatal", code, msg: message, remedy });
  process.exitCode = failure.exitCode;
}
