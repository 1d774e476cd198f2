/** Antiphon as in the load tool: router, Director and Associate as processes, with all of the product's code. */
import { createLogger } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";
import { Completions } from "../../load/completions.ts";
import { intentOf, throughJournal, type StartRun } from "../../load/intake.ts";
import { readOptions } from "../../load/options.ts";
import { startProcesses } from "../../load/processes.ts";
import { PAYLOAD, type Contender, type Kind } from "./contender.ts";

const DEADLINE_MS = 60_000;

export async function ours(): Promise<{ contender: Contender; bus: Bus }> {
  const processes = await startProcesses(readOptions([]));
  const bus = await processes.connect();
  const completions = new Completions();
  await completions.listen(bus);
  const log = createLogger("peers", { level: "silent" });
  const asked = (steps: string): Promise<StartRun> => {
    const intent = intentOf(readOptions(["--steps", steps]), null);
    const inputs = { ...(intent["inputs"] as object), pad: PAYLOAD.inputs.pad };
    return throughJournal(bus, log, { ...intent, inputs });
  };
  const starts: Record<Kind, StartRun> = { job: await asked("1"), flow: await asked("5") };
  const contender: Contender = {
    name: "Antiphon",
    setting: "nats-server, sync_interval always; 1 router, 1 Director, 1 Associate; no-op agent",
    async one(kind) {
      const runId = await starts[kind]();
      if ((await completions.of(runId, DEADLINE_MS)) === null) throw new Error(`${runId} was lost`);
      if (completions.failures.length > 0) throw new Error(completions.failures[0]);
    },
    async stop() {
      await completions.stop();
      await bus.close();
      await processes.stop();
    },
  };
  return { contender, bus };
}
