// Says whether large trees and environments are mounted into sandboxes or streamed into them.
import { off, ok, type Finding } from "./finding.ts";

/** `info`: the engine's answer to GET /info, or null if no engine answers. */
export function layerFinding(info: unknown, provider: string, runtime: string): Finding {
  const why = whyStreamed(info, provider, runtime);
  if (why !== null)
    return off(
      "layers",
      `large trees are streamed into sandboxes: ${why}`,
      "use a Linux engine without user namespaces, with the runtime runc",
    );
  return ok(
    "layers",
    "large trees are mounted; the sandbox-runner tries this before the first one, and streams if it fails",
  );
}

function whyStreamed(info: unknown, provider: string, runtime: string): string | null {
  if (provider !== "docker") return `the provider ${provider} mounts no layers`;
  if (runtime !== "runc") return `the runtime ${runtime} is not known to mount them`;
  if (info === null) return "no engine answers";
  const { OSType, SecurityOptions } = info as { OSType?: string; SecurityOptions?: readonly string[] };
  if (OSType !== undefined && OSType !== "linux") return `the engine runs on ${OSType}`;
  const remapped = (SecurityOptions ?? []).find((one) => /^name=(rootless|userns)\b/.test(one));
  return remapped === undefined
    ? null
    : `the engine has ${remapped.slice("name=".length)}, so users have other ids on its host`;
}
