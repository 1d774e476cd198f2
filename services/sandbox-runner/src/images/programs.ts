/** Finds which programs of toolchains an image has, by asking a trial sandbox of it. */
import { limits, TOOLCHAIN_PROGRAMS } from "@antiphon/contracts";
import type { Sandbox } from "../ports.ts";

const PATIENCE_MS = 10_000;
const LOOK = 'for name; do command -v "$name" >/dev/null 2>&1 && echo "$name"; done; true';

/** Sorted; empty if the image has no shell to ask. */
export async function programsOf(sandbox: Pick<Sandbox, "run">): Promise<string[]> {
  const { exitCode, stdout } = await sandbox.run({
    argv: ["sh", "-c", LOOK, "sh", ...TOOLCHAIN_PROGRAMS],
    cwd: "/workspace",
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin" },
    stdin: null,
    timeoutMs: PATIENCE_MS,
    keepBytes: 4096,
    maxOutputBytes: limits.documentBytes,
  });
  if (exitCode !== 0) return [];
  const found = new Set(stdout.tail.split("\n"));
  return TOOLCHAIN_PROGRAMS.filter((name) => found.has(name)).sort();
}
