/** ssh-keygen: what git asks to verify a commit's signature. Antiphon signs without it; the tests verify with it. */
import { run } from "./command.mjs";
import { canInstall, installHostPackages } from "./host-packages.mjs";
import { StepFailure } from "./step-failure.mjs";

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string}>}
 */
export async function ensureSshKeygen({ note }) {
  if (await isThere()) return { outcome: "present", detail: "on PATH" };
  if (!(await canInstall()))
    throw new StepFailure("ssh-keygen is not installed", "install the OpenSSH client programs");
  await installHostPackages(["openssh-client"], note);
  return { outcome: "made", detail: "openssh-client" };
}

/** `-?` is no option of any version: it prints the usage and ends. */
async function isThere() {
  const result = await run("ssh-keygen", ["-?"]);
  return `${result.stdout}${result.stderr}`.includes("usage: ssh-keygen");
}
