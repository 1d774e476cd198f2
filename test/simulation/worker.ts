/** A worker thread: runs the given seeds and posts the result of each. */
import { parentPort, workerData } from "node:worker_threads";
import { runSeeds } from "./seed.ts";

export interface WorkOrder {
  from: number;
  count: number;
  /** 1: every seed, 2: every other one, and so on. */
  step: number;
  stopAtFinding: boolean;
}

const order = workerData as WorkOrder;
for (let seed = order.from; seed < order.from + order.count * order.step; seed += order.step) {
  const [result] = await runSeeds(seed, 1, () => false);
  parentPort?.postMessage(result);
  if (order.stopAtFinding && (result?.findings.length ?? 0) > 0) break;
}
