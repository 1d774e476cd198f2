/** A service in a separate process for runtime-service.test.ts; it handles dispatches slowly. */
import { AntiphonError } from "../../../contracts/src/index.ts";
import { consume, openJournal, runService } from "../../../runtime/src/index.ts";
import { claimRecord } from "../../../contracts/src/testing/records.ts";

const workMs = Number(process.argv[2] ?? "0");
const fault = process.argv[3] ?? "";

await runService({
  name: "sleeper",
  version: "1.2.3",
  async start({ bus, log, signal, node }) {
    if (fault === "start") throw new Error("cannot start");
    const journal = openJournal(bus, { log });
    consume(bus, {
      consumer: "associate",
      slots: 1,
      log,
      signal,
      async handle({ record }) {
        await journal.append(claimRecord(record.runId, record.taskId ?? "", record.epoch, node));
        if (fault === "throw-later")
          void Promise.resolve().then(() => Promise.reject(new Error("nobody catches this")));
        await new Promise((resolve, reject) => {
          const timer = setTimeout(resolve, workMs);
          signal.addEventListener("abort", () => {
            clearTimeout(timer);
            reject(new Error("stopped"));
          });
        });
        await journal.append(claimRecord(record.runId, `${record.taskId}-finished`, record.epoch, node));
        return { kind: "done" };
      },
    });
    if (fault !== "drain") return;
    return {
      drain: () => Promise.reject(new AntiphonError("ANT_DOCKER_UNREACHABLE", "a container stays")),
    };
  },
});
