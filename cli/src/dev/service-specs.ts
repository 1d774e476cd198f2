// How `antiphon dev` starts each service: its process, its settings and what it may know.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ROLES } from "@antiphon/contracts/roles";
import { childEnvironment } from "../config.ts";
import type { ChildSpec } from "./child.ts";
import type { DevOptions } from "./dev-options.ts";
import { egressFile } from "./egress-file.ts";
import type { EmbeddedNats } from "./embedded-nats.ts";
import { smallHeap, SMALL_YOUNG_SPACE } from "./small-memory.ts";
import { withheldFrom } from "./withheld.ts";

export const STOP_GRACE_MS = 32_000; // A service drains for at most 30 s.

interface Place {
  readonly stateDir: string;
  readonly bundle: string;
  readonly nats: EmbeddedNats;
  readonly natsUrl: string;
}

/** In the order of the table of roles. */
export function serviceSpecs(options: DevOptions, place: Place): ChildSpec[] {
  const env = sharedSettings(options, place);
  const sessionKey = randomBytes(32).toString("hex"); // Sessions outlive a restart of the gateway.
  const associates = Array.from({ length: options.associates }, (_, i) => `associate-${i + 1}`);
  const names = ROLES.flatMap((role) => (role === "associate" ? associates : [role]));
  return names.map((name, i) => {
    const role = roleOf(name);
    return {
      name,
      command: process.execPath,
      args: serviceArguments(options, place.bundle, role),
      env: childEnvironment({
        ...smallHeap(childEnvironment({})),
        ...env,
        ANTIPHON_NATS_CREDS: place.nats.credentials(role),
        ...withheldFrom(role),
        ...(role === "egress"
          ? {
              ANTIPHON_EGRESS_CONFIG: egressFile(options.dir),
              ANTIPHON_EGRESS_BROKEN_CONFIG: "closed", // A mistake in one file takes nothing else down.
            }
          : {}),
        ...(role === "gateway"
          ? { ANTIPHON_SESSION_KEY: sessionKey, ANTIPHON_STORE_DIR: place.nats.storeDir }
          : {}),
        ANTIPHON_METRICS_PORT: metricsPort(options.metricsPort, i),
      }),
      signalGroup: false,
      graceMs: STOP_GRACE_MS,
    };
  });
}

export function serviceArguments({ mapsEveryStack }: DevOptions, bundle: string, role: string): string[] {
  const maps = mapsEveryStack ? ["--enable-source-maps"] : [];
  return [SMALL_YOUNG_SPACE, ...maps, join(bundle, "serve.js"), role];
}

export function roleOf(childName: string): string {
  return childName.replace(/-\d+$/, "");
}

function sharedSettings(
  { dir, ...options }: DevOptions,
  { stateDir, natsUrl }: Place,
): Record<string, string> {
  const given = childEnvironment({});
  return {
    ANTIPHON_NATS_URL: natsUrl,
    ANTIPHON_NATS_TOKEN: "", // Not that of another deployment.
    ANTIPHON_STATE_DIR: stateDir,
    ANTIPHON_MODE: "development",
    ...(options.sandbox === null ? {} : { ANTIPHON_SANDBOX_PROVIDER: options.sandbox }),
    ANTIPHON_DIRECTOR_KEY: join(dir, "director-key.pem"),
    ANTIPHON_TRUSTED_KEYS: join(dir, "trusted-keys.json"), // The Director creates it at its first start.
    ANTIPHON_RUNNER_KEY: join(dir, "runner-key.pem"),
    ANTIPHON_TRUSTED_RUNNERS: join(dir, "trusted-runners.json"), // The runner creates it.
    ANTIPHON_REPO_COPIES: join(dir, "remotes"),
    ANTIPHON_BASE_STEPS: given["ANTIPHON_BASE_STEPS"] ?? "on", // All services are of one release.
    ANTIPHON_PROBED_LEASES: given["ANTIPHON_PROBED_LEASES"] ?? "on", // For the same reason.
    ANTIPHON_WORK_ITEMS: given["ANTIPHON_WORK_ITEMS"] ?? `file:${join(dir, "work-items")}`,
    ANTIPHON_AGENT_PACKS: options.packFolders.join(":"),
    ANTIPHON_LISTEN: `127.0.0.1:${options.port}`,
  };
}

/** "": none. A setting of the caller's own would be one port for all services. */
function metricsPort(first: number | null, index: number): string {
  if (first === null) return "";
  return String(first === 0 ? 0 : first + index);
}
