/** `npx tsx test/chaos/sandbox/main.ts --attempts 1000 --concurrency 8 --seed 1`: exit code 1 when anything is left. */
import { parseArgs } from "node:util";
import { storm } from "./storm.ts";

const { values } = parseArgs({
  options: {
    attempts: { type: "string", default: "1000" },
    concurrency: { type: "string", default: "8" },
    seed: { type: "string", default: "1" },
  },
});
const report = await storm({
  attempts: Number(values.attempts),
  concurrency: Number(values.concurrency),
  seed: Number(values.seed),
  log: (line) => console.log(line),
});
console.log(JSON.stringify(report, null, 2));
process.exit(Object.values(report.left).every((count) => count === 0) ? 0 : 1);
