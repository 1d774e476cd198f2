/** Stores the policy of a stack's deployment as its operator would: one profile, which forbids nothing but what the test says. */
import { join } from "node:path";
import { BUCKETS, type PolicyProfile } from "@antiphon/contracts";
import { connectBus, createLogger, openKv, readNatsUser } from "@antiphon/runtime";
import type { Stack } from "./stack.ts";

export const OPEN: PolicyProfile = {
  name: "team",
  protectedBranches: [],
  requireTestsBeforePush: false,
  requireApprovalForPush: false,
  allowedWorkItemTransitions: [],
};

export async function enforcePolicy(
  { ready, stateDir }: Pick<Stack, "ready" | "stateDir">,
  says: Partial<PolicyProfile>,
): Promise<void> {
  const bus = await connectBus({
    servers: ready.nats,
    user: readNatsUser("admin", join(stateDir, "nats-users/admin.nk")),
    name: "policy",
    log: createLogger("policy", { level: "error" }),
  });
  try {
    const config = { profiles: { team: { ...OPEN, ...says } }, defaultProfile: "team", globalLimits: {} };
    await openKv(bus, BUCKETS.policies).put("config", config);
  } finally {
    await bus.close();
  }
}
