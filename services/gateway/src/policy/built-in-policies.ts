// What holds where an operator has put no policies.
import { limits } from "@antiphon/contracts";
import type { PolicyConfig, PolicyProfile } from "@antiphon/contracts";

const CAREFUL: PolicyProfile = {
  name: "default",
  protectedBranches: ["main", "master"],
  maxFilesPerCommit: limits.patchFiles,
  requireTestsBeforePush: true,
  requireApprovalForPush: true,
  allowedWorkItemTransitions: [],
};

/** A deployment that others reach: nothing moves a main branch, nothing goes untested, one caller is not all. */
export const DEPLOYED: PolicyConfig = {
  profiles: { default: CAREFUL },
  defaultProfile: "default",
  globalLimits: { callsPerMinute: 600 },
};

/** One person on one machine, without a token: what the person asks for by name is allowed. */
export const LOCAL: PolicyConfig = {
  profiles: {
    default: {
      ...CAREFUL,
      protectedBranches: [],
      requireTestsBeforePush: false,
      requireApprovalForPush: false,
    },
  },
  defaultProfile: "default",
  globalLimits: {},
};
