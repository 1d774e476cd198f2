/** Installs bubblewrap, for sandboxes without a container engine, from the system's own package. */
import { run } from "./command.mjs";
import { canInstall, installHostPackages } from "./host-packages.mjs";
import { StepFailure } from "./step-failure.mjs";

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string}>}
 */
export async function ensureBubblewrap({ note }) {
  const found = await version();
  if (found !== null) return { outcome: "present", detail: found };
  if (!(await canInstall()))
    throw new StepFailure("bubblewrap is not installed", "install the package bubblewrap");
  await installHostPackages(["bubblewrap"], note);
  return { outcome: "made", detail: (await version()) ?? "installed" };
}

async function version() {
  const result = await run("bwrap", ["--version"]);
  return result.code === 0 ? result.stdout.trim() : null;
}
