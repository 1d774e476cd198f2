/** An egress gateway as a process of its own, for tests that kill it. Configured by its environment, as in real life. */
import { main } from "../../services/egress-gateway/src/main.ts";

await main();
