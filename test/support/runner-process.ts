/** A sandbox-runner as a process of its own, for tests that kill it. Configured by its environment, as in real life. */
import { main } from "../../services/sandbox-runner/src/main.ts";

await main();
