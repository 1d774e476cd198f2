/** A process that holds a sandbox session and prints its container's id, for tests that kill it. */
import { connectBus, createLogger, sandboxSessions } from "@antiphon/runtime";

const bus = await connectBus({
  servers: process.env["ANTIPHON_NATS_URL"] ?? "",
  name: "session-holder",
  log: createLogger("test", { level: "silent" }),
});
const session = await sandboxSessions(bus).open({
  run: "run_holder",
  task: "T-001",
  epoch: 1,
  image: null,
  budgetMs: 600_000,
  workspace: { tree: null, files: [], overlay: null, deletions: [] },
});
process.stdout.write(`${session.containerId}\n`);
await session.exec({ argv: ["sleep", "600"] });
