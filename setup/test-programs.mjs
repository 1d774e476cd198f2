/**
 * Installs programs that only checks and tests use: ssh-keygen checks a commit's signature for git, ip makes network partitions,
 * perlcritic and shellcheck read the programs that run inside sandboxes, chromium shows the page, zsh and fish load the
 * completion scripts, openssl makes certificates.
 */
import { run } from "./command.mjs";
import { canInstall, installHostPackages } from "./host-packages.mjs";
import { StepFailure } from "./step-failure.mjs";

/** Called in this way, each prints its usage and ends. */
const PROGRAMS = [
  { program: "ssh-keygen", args: ["-?"], says: "usage: ssh-keygen", package: "openssh-client" },
  { program: "openssl", args: ["version"], says: "OpenSSL", package: "openssl" },
  { program: "ip", args: ["-V"], says: "iproute2", package: "iproute2" },
  { program: "perlcritic", args: ["--version"], says: "1.", package: "libperl-critic-perl" },
  { program: "chromium", args: ["--version"], says: "Chromium", package: "chromium" },
  { program: "shellcheck", args: ["--version"], says: "ShellCheck", package: "shellcheck" },
  { program: "zsh", args: ["--version"], says: "zsh 5", package: "zsh" },
  { program: "fish", args: ["--version"], says: "fish, version", package: "fish" },
];

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string}>}
 */
export async function ensureTestPrograms({ note }) {
  const there = await Promise.all(PROGRAMS.map(isThere));
  const missing = PROGRAMS.filter((_, index) => !there[index]);
  const detail = PROGRAMS.map(({ program }) => program).join(", ");
  if (missing.length === 0) return { outcome: "present", detail };
  const packages = missing.map((one) => one.package);
  if (!(await canInstall()))
    throw new StepFailure(
      `${missing.map(({ program }) => program).join(" and ")} not installed`,
      `install the packages ${packages.join(" and ")}`,
    );
  await installHostPackages(packages, note);
  return { outcome: "made", detail };
}

async function isThere({ program, args, says }) {
  const result = await run(program, args);
  return `${result.stdout}${result.stderr}`.includes(says);
}
