/** Runs attempts in containers and kills their runners; exit code 1 if anything of them remains. */
import { CommandLine } from "../../support/command-line.ts";
import { storm } from "./storm.ts";

const line = new CommandLine(`
usage: npx tsx test/chaos/sandbox/main.ts [--attempts 1000] [--concurrency 8] [--seed 1]

Exit 1 when a container, a process or a file remains.
`);
const values = line.read({
  attempts: { type: "string", default: "1000" },
  concurrency: { type: "string", default: "8" },
  seed: { type: "string", default: "1" },
});
const report = await storm({
  attempts: line.whole("attempts", values.attempts),
  concurrency: line.whole("concurrency", values.concurrency),
  seed: line.whole("seed", values.seed, undefined, 0),
  log: (text) => console.log(text),
});
console.log(JSON.stringify(report, null, 2));
process.exit(Object.values(report.left).every((count) => count === 0) ? 0 : 1);
