/** Installs packages into the machine itself, only on Debian or Ubuntu and only as root. */
import { reasonOf, run } from "./command.mjs";
import { hostDistribution } from "./debian-archive.mjs";
import { StepFailure } from "./step-failure.mjs";

const LOCK_WAIT_S = 120;
const INSTALL_TIMEOUT_MS = 15 * 60_000;

export const isRoot = () => process.getuid?.() === 0;

/** Whether this process may install packages here. */
export async function canInstall() {
  return isRoot() && (await hostDistribution()) !== null;
}

/**
 * @param {readonly string[]} names
 * @param {(text: string) => void} note
 */
export async function installHostPackages(names, note) {
  note(`apt-get install ${names.join(" ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", NEEDRESTART_SUSPEND: "1" };
  const lock = ["-o", `DPkg::Lock::Timeout=${LOCK_WAIT_S}`];
  // A third-party source that does not answer fails the update and need not fail the install.
  await run("apt-get", [...lock, "update", "-q"], { env, timeoutMs: INSTALL_TIMEOUT_MS });
  const args = [...lock, "install", "--yes", "-q", "--no-install-recommends", ...names];
  const result = await run("apt-get", args, { env, timeoutMs: INSTALL_TIMEOUT_MS });
  if (result.code !== 0)
    throw new StepFailure(
      `apt-get install ${names.join(" ")} failed: ${reasonOf(result)}`,
      `apt-get update && apt-get install ${names.join(" ")}, then run npm run setup again`,
    );
}
