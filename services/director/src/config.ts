/** What the Director reads from the environment; the rest of the service takes it as values. */
import { AntiphonError, limits } from "@antiphon/contracts";
import type { RunPolicy } from "./core/run-state.ts";
import type { ArchiveTiming } from "./archiver.ts";
import type { SweepTiming } from "./sweeper.ts";
import type { TimerSettings } from "./timekeeper.ts";

export interface DirectorConfig {
  /** Records handled at the same time; a record in the clean room holds one. ANTIPHON_DIRECTOR_SLOTS, default 16. */
  slots: number;
  /** Directories repositories must lie in; empty: anywhere. ANTIPHON_REPO_ROOTS, colon-separated. */
  repoRoots: string[];
  /** PEM file of the Ed25519 key decisions and commits are signed with, made when it is not there. ANTIPHON_DIRECTOR_KEY; none (only with ANTIPHON_UNSAFE_TRUST): a key as old as the process. */
  keyFile: string | null;
  policy: RunPolicy;
  sweep: SweepTiming;
  timers: TimerSettings;
  /** How long a finished run stays in the journal. ANTIPHON_ARCHIVE_AFTER_S, default a day; `never`: for good. */
  archive: ArchiveTiming | null;
}

export function readDirectorConfig(env: NodeJS.ProcessEnv = process.env): DirectorConfig {
  return {
    slots: slots(env["ANTIPHON_DIRECTOR_SLOTS"]),
    repoRoots: (env["ANTIPHON_REPO_ROOTS"] ?? "").split(":").filter((root) => root !== ""),
    keyFile: env["ANTIPHON_DIRECTOR_KEY"] || null,
    policy: {
      maxAttempts: limits.maxAttempts,
      maxLapses: limits.maxLapses,
      maxOutages: limits.maxOutages,
      maxIntegrations: 3,
    },
    sweep: { everyMs: 20_000, quietMs: 20_000, patienceMs: 120_000 },
    timers: {
      armAfterMs: limits.timerArmMs,
      graceMs: limits.claimGraceS * 1000,
      questionMs: limits.questionTimeoutS * 1000,
    },
    archive: archive(env["ANTIPHON_ARCHIVE_AFTER_S"]),
  };
}

function slots(text: string | undefined): number {
  if (text === undefined || text === "") return 16;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1_024) return value;
  const detail = `ANTIPHON_DIRECTOR_SLOTS=${JSON.stringify(text)} is not a whole number from 1 to 1024`;
  throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable: "ANTIPHON_DIRECTOR_SLOTS" } });
}

function archive(text: string | undefined): ArchiveTiming | null {
  if (text === "never") return null;
  const afterS = text === undefined || text === "" ? limits.archiveAfterS : Number(text);
  if (Number.isInteger(afterS) && afterS >= 1) return { afterMs: afterS * 1000, everyMs: 30_000 };
  const detail = `ANTIPHON_ARCHIVE_AFTER_S=${JSON.stringify(text)} is not a whole number of seconds from 1, nor never`;
  throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable: "ANTIPHON_ARCHIVE_AFTER_S" } });
}
