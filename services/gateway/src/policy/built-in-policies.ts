// The default policies, used when an operator has stored none.
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

/** For a deployment with a token: main branches are protected, tests are required, and calls are limited. */
export const DEPLOYED: PolicyConfig = {
  profiles: { default: CAREFUL },
  defaultProfile: "default",
  globalLimits: { callsPerMinute: 600 },
};

/** For one person on one machine, without a token: anything the person explicitly requests is allowed. */
export const LOCAL: PolicyConfig = {
  profiles: {
    default: {
      ...CAREFUL,
      protectedBranches: [],
      requireTestsBeforePush: false,
      requireApprovalForPush: false,
      ownJudges: true,
      allowedWorkItemTransitions: ["open", "in progress", "in review", "done", "closed"],
    },
  },
  defaultProfile: "default",
  globalLimits: {},
};
