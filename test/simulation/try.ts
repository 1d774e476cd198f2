import { traceSeed } from "/work/wt/sim/test/simulation/seed.ts";
const seed = Number(process.argv[2] ?? 1);
const { result, report } = await traceSeed(seed);
if (process.argv[3]) for (const line of report.trace) console.log(line);
console.log(result, report.plan.runs.length, report.plan.healMs);
