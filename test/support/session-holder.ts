/** A process that holds a sandbox session, for tests that kill it. Says the container's id when it has one. */
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
