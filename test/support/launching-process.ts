/** A process with a launcher, which says that it is there and waits to be killed. */
import { startLauncher } from "@antiphon/git";

await startLauncher();
console.log("ready");
setInterval(() => undefined, 60_000);
