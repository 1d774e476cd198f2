/** Where a service may have directories in memory: nowhere that the sandbox itself or the kernel has something. Pure. */
import { AntiphonError } from "@antiphon/contracts";

const OWN = [
  "/proc",
  "/sys",
  "/dev",
  "/workspace",
  "/tmp",
  "/run/antiphon",
  "/bin",
  "/lib",
  "/usr/bin",
  "/usr/lib",
];
const MOST = 16;

/** @throws AntiphonError ANT_SANDBOX_REFUSED */
export function requireServicePaths(paths: readonly string[]): void {
  const refused = paths.find((path) => !isServicePath(path));
  if (refused !== undefined)
    throw new AntiphonError(
      "ANT_SANDBOX_REFUSED",
      `no directory in memory can be at ${refused.slice(0, 200)}`,
    );
  if (paths.length > MOST)
    throw new AntiphonError("ANT_SANDBOX_REFUSED", `more than ${MOST} directories in memory`);
}

export function isServicePath(path: string): boolean {
  if (!/^(\/[A-Za-z0-9._-]+)+$/.test(path) || path.split("/").some((part) => /^\.+$/.test(part)))
    return false;
  return !OWN.some((own) => path === own || path.startsWith(`${own}/`) || own.startsWith(`${path}/`));
}
