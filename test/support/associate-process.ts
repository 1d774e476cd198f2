/** An Associate in a separate process, for tests that kill it. Configured by its environment, as in production. */
import { main } from "../../services/associate/src/main.ts";

await main();
