/** `landing-process.ts <repo> <parent> <ref> <killAfterMs>` lands, or kills itself after that many milliseconds. */
import { landOnce } from "./land-once.ts";

const [path = "", parent = "", ref = "", killAfterMs = "0"] = process.argv.slice(2);
// The time counts from the start of the landing, not of the process.
setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(killAfterMs));
console.log(JSON.stringify(await landOnce(path, parent, ref)));
