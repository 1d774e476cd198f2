/** Of the clean room and what it compares. */
import type { Limit } from "./limit.ts";

export const verification = {
  verifyTrials: [
    16,
    "trials",
    "a check that fails every other time passes all of them once in 65,536",
    "the last trial",
  ],
  verifyTrialsMs: [
    50,
    "milliseconds",
    "trials of a check go on for this long after the second one, so a short check gets more of them",
    "no further trial",
  ],
  verifyTimingMs: [
    2_000,
    "milliseconds",
    "the same, where the check or the change draws on clocks, waiting, threads or sockets",
    "no further trial",
  ],
  verifyRandomMs: [
    10_000,
    "milliseconds",
    "the same, where they draw on random numbers, or were flaky in an earlier attempt: all trials, also on a busy machine",
    "no further trial",
  ],
  sandboxForgeries: [
    20,
    "answers",
    "forged answers to one job, which is asked again after each: a queue group hands out requests at random",
    "ANT_SANDBOX_FORGED",
  ],
  verifyBaseGraceMs: [
    5_000,
    "milliseconds",
    "the checks on the base, where nothing demands them, may take this longer than twice the time of those on the change",
    "they are stopped, and the verdict says `regression`",
  ],
  verifyEmptiedGraceMs: [
    10_000,
    "milliseconds",
    "the checks in a workspace without any file, or beside a slow base without those of the change, may take this longer than twice the time of those on the change",
    "they are stopped, and that workspace tells nothing",
  ],
  verifyUnreportedGraceMs: [
    60_000,
    "milliseconds",
    "the same, for checks whose output has no report of a test runner, because only the base can tell whether one is missing",
    "they are stopped, and the verdict says `regression`",
  ],
  verifyElsewhereMs: [
    300_000,
    "milliseconds",
    "how long the checks of a change that may look around may take, so that they are tried once more in other surroundings",
    "they are not tried there; the signs in the text of the change are all that is looked for",
  ],
  baseTrialsKept: [
    64,
    "outcomes",
    "of checks on the base that a Director keeps for verifications; the largest is about 1 MiB",
    "the one that was asked for longest ago is forgotten, and a verification runs its base",
  ],
  baseTrialKeepMs: [
    1_800_000,
    "milliseconds",
    "that such an outcome is used: the name of an image, or the date, may mean something else later",
    "a verification runs its base",
  ],
  paidAttemptHoldMs: [
    5_000,
    "milliseconds",
    "the first attempt of an agent with model calls waits for its checks to run on the base; one that cannot start ends at once",
    "the attempt is dispatched",
  ],
} as const satisfies Record<string, Limit>;
