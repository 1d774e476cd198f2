// Runs one service in this process. Services are separate entry points of the same bundle. The CLI loads them by path,
// because its sources may import contracts only.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** How long a service may drain after its supervisor has died, before it exits at once. */
const ORPHAN_GRACE_MS = 5_000;

export async function serveRole(role: string, bundle: string, supervised: boolean): Promise<void> {
  const entry = join(bundle, `role-${role}.js`);
  if (!existsSync(entry)) throw new Error(`this bundle has no ${role}`);
  if (supervised) endWithSupervisor();
  const module = (await import(pathToFileURL(entry).href)) as { main: () => Promise<void> };
  await module.main();
}

/** cli/C2: the supervisor holds the other end of our stdin, so its end means that the supervisor is gone. */
function endWithSupervisor(): void {
  const onOrphaned = (): void => {
    process.kill(process.pid, "SIGTERM");
    setTimeout(() => process.exit(1), ORPHAN_GRACE_MS).unref();
  };
  process.stdin.once("end", onOrphaned).once("error", onOrphaned).resume();
  (process.stdin as unknown as { unref?: () => void }).unref?.();
}
