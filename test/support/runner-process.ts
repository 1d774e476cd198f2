/** A sandbox-runner in a separate process, for tests that kill it. Configured by its environment, as in production. */
import { main } from "../../services/sandbox-runner/src/main.ts";

await main();
