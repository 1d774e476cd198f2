/** Finds which programs of toolchains and of checks an image has, by asking a trial sandbox of it. */
import { limits, TOOLCHAIN_PROGRAMS } from "@antiphon/contracts";
import { CHECK_PROGRAMS } from "@antiphon/git";
import { stepEnvironment } from "../environments/variables.ts";
import type { ImageFacts, Sandbox } from "../ports.ts";

const PATIENCE_MS = 10_000;
const LOOK = 'for name; do command -v "$name" >/dev/null 2>&1 && echo "$name"; done; true';

/** Sorted; empty if the image has no shell to ask. */
export async function programsOf(sandbox: Pick<Sandbox, "run">): Promise<string[]> {
  const found = await foundIn(sandbox, TOOLCHAIN_PROGRAMS, {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin",
  });
  return found === null ? [] : TOOLCHAIN_PROGRAMS.filter((name) => found.has(name)).sort();
}

/** The programs that checks need and that a command in the sandbox would not find. Null: it cannot be told. */
export async function lackingIn(
  sandbox: Pick<Sandbox, "run" | "home">,
  image: ImageFacts,
): Promise<string[] | null> {
  const found = await foundIn(sandbox, CHECK_PROGRAMS, stepEnvironment(image, sandbox.home));
  return found === null ? null : CHECK_PROGRAMS.filter((name) => !found.has(name));
}

async function foundIn(
  sandbox: Pick<Sandbox, "run">,
  names: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ReadonlySet<string> | null> {
  const { exitCode, stdout } = await sandbox.run({
    argv: ["sh", "-c", LOOK, "sh", ...names],
    cwd: "/workspace",
    env,
    stdin: null,
    timeoutMs: PATIENCE_MS,
    keepBytes: 4096,
    maxOutputBytes: limits.documentBytes,
  });
  return exitCode === 0 ? new Set(stdout.tail.split("\n")) : null;
}
