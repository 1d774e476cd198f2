// Says whether a sandbox's workspace may be partly on disk.
import { off, ok, problem, type Finding } from "./finding.ts";

/** `info`: the engine's answer to GET /info, or null if no engine answers. `mib`: ANTIPHON_SANDBOX_SWAP_MIB. */
export function swapFinding(info: unknown, provider: string, runtime: string, mib: number): Finding {
  if (mib === 0)
    return off(
      "swap",
      "what a sandbox writes is in memory alone, 2 GiB at most",
      "for larger workspaces give the engine's machine swap, and set ANTIPHON_SANDBOX_SWAP_MIB",
    );
  const why = whyNone(info, provider, runtime);
  if (why !== null)
    return problem(
      "swap",
      `ANTIPHON_SANDBOX_SWAP_MIB has no effect: ${why}`,
      "use an engine that limits swap (`swapaccount=1` on the kernel's command line), or unset the variable",
    );
  return ok(
    "swap",
    `a workspace may have ${mib} MiB on disk, if the machine has as much swap for each sandbox; otherwise the sandbox-runner's log says so`,
  );
}

function whyNone(info: unknown, provider: string, runtime: string): string | null {
  if (provider !== "docker") return `the provider ${provider} limits no swap`;
  if (runtime !== "runc") return `the runtime ${runtime} is not known to limit swap`;
  if (info === null) return "no engine answers";
  return (info as { SwapLimit?: boolean }).SwapLimit === true ? null : "the engine cannot limit swap";
}
