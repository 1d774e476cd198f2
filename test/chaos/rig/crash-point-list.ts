/**
 * Every named point at which a process can end itself: before and after each operation with an outside effect.
 * The preload crash-points.mjs watches for them from outside the product's code.
 */
import { roleOf } from "./process-name.ts";

export interface CrashPoint {
  readonly role: string;
  readonly deed: string;
  readonly side: "before" | "after";
}

const DEEDS: Readonly<Record<string, readonly string[]>> = {
  gateway: ["append intent", "append cancel", "append input"],
  router: ["append routed", "ack"],
  director: [
    "append dispatch",
    "append verdict",
    "append landing",
    "append closed",
    "ack",
    "blob",
    "manifest",
    "update-ref",
  ],
  associate: ["append claim", "append result", "ack", "blob", "manifest"],
  "sandbox-runner": ["container create", "container start", "blob"],
  worker: ["append result", "ack", "update-ref"],
};

export function pointsOf(processes: readonly string[]): CrashPoint[] {
  const roles = new Set(processes.map(roleOf));
  return [...roles].flatMap((role) =>
    (DEEDS[role] ?? []).flatMap((deed) =>
      (["before", "after"] as const).map((side): CrashPoint => ({ role, deed, side })),
    ),
  );
}
