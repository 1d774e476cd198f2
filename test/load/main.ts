/**
 * `npm run load`: many runs through real processes (router, directors, associates, a nats-server that fsyncs before
 * it acknowledges), with all of the product's code, and their cost. Exit code 1 when a run was lost, doubled or
 * failed, which the journal decides, or cost more CPU than it may.
 */
import { load } from "./load.ts";
import { readOptions } from "./options.ts";
import { isSound, isTooDear, print } from "./report.ts";

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const [first, ...rest] = process.argv.slice(2);
if (first === "sse") {
  const { soak } = await import("./sse.ts");
  process.exitCode = (await soak(rest)) ? 0 : 1;
} else {
  const options = readOptions(process.argv.slice(2));
  const report = await load(options);
  if (options.json) console.log(JSON.stringify(report, null, 2));
  else print(report);
  process.exitCode = isSound(report) && !isTooDear(report) ? 0 : 1;
}
