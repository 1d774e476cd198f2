// Entry point of the children of `antiphon dev`: one service, without the command-line parser.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Failure } from "../failure.ts";
import { serveRole } from "./serve-role.ts";

try {
  await serveRole(process.argv[2] ?? "", dirname(fileURLToPath(import.meta.url)), true);
} catch (thrown) {
  const failure = Failure.from(thrown);
  const { code, message, remedy } = failure;
  process.stderr.write(`${JSON.stringify({ level: "fatal", code, msg: message, remedy })}\n`);
  process.exitCode = failure.exitCode;
}
