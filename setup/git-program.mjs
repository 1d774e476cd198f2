/** Finds or installs git, the only program besides node that set-up expects. */
import { run } from "./command.mjs";
import { canInstall, installHostPackages } from "./host-packages.mjs";
import { StepFailure } from "./step-failure.mjs";

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string}>}
 */
export async function ensureGit({ note }) {
  const found = await version();
  if (found !== null) return { outcome: "present", detail: found };
  if (!(await canInstall()))
    throw new StepFailure("git is not installed", "install git (https://git-scm.com/downloads)");
  await installHostPackages(["git"], note);
  return { outcome: "made", detail: (await version()) ?? "installed" };
}

async function version() {
  const result = await run("git", ["--version"]);
  return result.code === 0 ? result.stdout.trim().replace("git version ", "") : null;
}
