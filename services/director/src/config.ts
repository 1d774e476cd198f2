/** The Director's settings, read from the environment. No other file of the service reads it. */
import { basename, join, resolve } from "node:path";
import { AntiphonError, limits, repositoryUrl, type RepoRef } from "@antiphon/contracts";
import type { RemoteSettings } from "./repositories/remote-repositories.ts";
import type { RunPolicy } from "@antiphon/run";
import type { ArchiveTiming } from "./upkeep/archiver.ts";
import type { SweepTiming } from "./upkeep/sweeper.ts";
import { workItemSettings, type WorkItemSettings } from "./work-items/work-item-settings.ts";
import type { TimerSettings } from "./timers/timer-scheduler.ts";

export interface DirectorConfig {
  /** The store of base trees. ANTIPHON_REPO_STORE_BYTES, default limits.repoStoreBytes. */
  repoStoreBytes: number;
  /**
   * Whether bases may be stored as steps from earlier ones. ANTIPHON_BASE_STEPS: `on` or `off`, the default, because
   * Associates and sandbox-runners of the release before cannot read them.
   */
  baseSteps: boolean;
  /** Records handled at the same time, those in the clean room included. ANTIPHON_DIRECTOR_SLOTS, default 16. */
  slots: number;
  /**
   * Directories that repositories must lie in. ANTIPHON_REPO_ROOTS, colon-separated. If it is not set, repositories may
   * lie anywhere (null) while NATS is on loopback, as only this machine can ask then; else nowhere.
   */
  repoRoots: string[] | null;
  /**
   * Repositories served by URL. ANTIPHON_REPO_URLS: URLs or prefixes of them, separated by spaces or commas; default none.
   * Their copies are in ANTIPHON_REPO_COPIES, default `remotes` below ANTIPHON_STATE_DIR. The deployment's credentials are in files: ANTIPHON_GIT_CREDENTIALS,
   * ANTIPHON_GIT_SSH_KEY with ANTIPHON_GIT_KNOWN_HOSTS, ANTIPHON_GIT_CA.
   */
  remotes: RemoteSettings;
  /**
   * PEM file of the Ed25519 key that signs decisions and commits; made if it does not exist. ANTIPHON_DIRECTOR_KEY.
   * Without one (only with ANTIPHON_UNSAFE_TRUST) the key lives as long as the process.
   */
  keyFile: string | null;
  /** JWK set file with the public keys of the sandbox-runners whose outcomes count. ANTIPHON_TRUSTED_RUNNERS. */
  trustedRunnersFile: string | null;
  /** ANTIPHON_WORK_ITEMS, ANTIPHON_WORK_ITEMS_TOKEN: the work items of sessions (work-items/work-item-settings.ts). Null: none. */
  workItems: WorkItemSettings | null;
  /**
   * Repositories whose work items and pull requests a run without a repository reads if it names none.
   * ANTIPHON_BRIEF_PROJECTS: absolute paths and URLs, separated by spaces or commas; default none.
   */
  briefProjects: RepoRef[];
  policy: RunPolicy;
  sweep: SweepTiming;
  timers: TimerSettings;
  /** How long a finished run stays in the journal. ANTIPHON_ARCHIVE_AFTER_S, default a day; `never` keeps it. */
  archive: ArchiveTiming | null;
}

export function readDirectorConfig(env: NodeJS.ProcessEnv = process.env): DirectorConfig {
  return {
    slots: slots(env["ANTIPHON_DIRECTOR_SLOTS"]),
    repoStoreBytes: repoStoreBytes(env["ANTIPHON_REPO_STORE_BYTES"]),
    baseSteps: baseSteps(env["ANTIPHON_BASE_STEPS"]),
    repoRoots: repoRoots(env),
    remotes: remotes(env),
    keyFile: env["ANTIPHON_DIRECTOR_KEY"] || null,
    trustedRunnersFile: env["ANTIPHON_TRUSTED_RUNNERS"] || null,
    workItems: workItemSettings(env),
    briefProjects: briefProjects(env["ANTIPHON_BRIEF_PROJECTS"]),
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

function repoRoots(env: NodeJS.ProcessEnv): string[] | null {
  const roots = (env["ANTIPHON_REPO_ROOTS"] ?? "").split(":").filter((root) => root !== "");
  const stray = roots.find((root) => !root.startsWith("/"));
  if (stray !== undefined) {
    const detail = `ANTIPHON_REPO_ROOTS names ${JSON.stringify(stray)}, which is not an absolute path`;
    throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable: "ANTIPHON_REPO_ROOTS" } });
  }
  if (roots.length > 0) return roots;
  const servers = (env["ANTIPHON_NATS_URL"] ?? "").split(",").map((url) => url.trim());
  return servers.every((url) => url === "" || LOOPBACK.test(url)) ? null : [];
}

function remotes(env: NodeJS.ProcessEnv): RemoteSettings {
  const listed = (env["ANTIPHON_REPO_URLS"] ?? "").split(/[\s,]+/).filter((url) => url !== "");
  const file = (variable: string): string | undefined => {
    const path = env[variable];
    if (path === undefined || path === "") return undefined;
    if (path.startsWith("/")) return path;
    throw invalid(variable, `${variable} names ${JSON.stringify(path)}, which is not an absolute path`);
  };
  const credentialsFile = file("ANTIPHON_GIT_CREDENTIALS");
  const sshKeyFile = file("ANTIPHON_GIT_SSH_KEY");
  const knownHostsFile = file("ANTIPHON_GIT_KNOWN_HOSTS");
  const caFile = file("ANTIPHON_GIT_CA");
  return {
    prefixes: listed.map(prefixOf),
    directory:
      file("ANTIPHON_REPO_COPIES") ?? join(resolve(env["ANTIPHON_STATE_DIR"] ?? ".antiphon"), "remotes"),
    access: {
      ...(credentialsFile === undefined ? {} : { credentialsFile }),
      ...(sshKeyFile === undefined ? {} : { sshKeyFile }),
      ...(knownHostsFile === undefined ? {} : { knownHostsFile }),
      ...(caFile === undefined ? {} : { caFile }),
    },
  };
}

function briefProjects(text: string | undefined): RepoRef[] {
  const listed = (text ?? "").split(/[\s,]+/).filter((place) => place !== "");
  if (listed.length > limits.briefProjects)
    throw invalid(
      "ANTIPHON_BRIEF_PROJECTS",
      `ANTIPHON_BRIEF_PROJECTS names more than ${limits.briefProjects}`,
    );
  return listed.map((place) => {
    const parsed = repositoryUrl(place);
    if (!("fault" in parsed)) return { name: parsed.name, path: parsed.url };
    if (place.startsWith("/")) return { name: basename(place) || place, path: place };
    throw invalid(
      "ANTIPHON_BRIEF_PROJECTS",
      "ANTIPHON_BRIEF_PROJECTS holds neither an absolute path nor a URL",
    );
  });
}

/** A prefix may be a host alone. */
function prefixOf(text: string): string {
  const hostOnly = /^[a-z]+:\/\/[^/]+\/?$/i.test(text);
  const parsed = repositoryUrl(hostOnly ? `${text.replace(/\/$/, "")}/x` : text);
  if ("fault" in parsed) throw invalid("ANTIPHON_REPO_URLS", `a URL in ANTIPHON_REPO_URLS ${parsed.fault}`);
  return hostOnly ? parsed.url.slice(0, -2) : parsed.url;
}

function invalid(variable: string, detail: string): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable } });
}

const LOOPBACK = /^([a-z]+:\/\/)?([^@/]*@)?(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?\/?$/i;

function slots(text: string | undefined): number {
  if (text === undefined || text === "") return 16;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1_024) return value;
  const detail = `ANTIPHON_DIRECTOR_SLOTS=${JSON.stringify(text)} is not a whole number from 1 to 1024`;
  throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable: "ANTIPHON_DIRECTOR_SLOTS" } });
}

function repoStoreBytes(text: string | undefined): number {
  if (text === undefined || text === "") return limits.repoStoreBytes;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  const detail = `ANTIPHON_REPO_STORE_BYTES=${JSON.stringify(text)} is not a whole number of bytes`;
  throw invalid("ANTIPHON_REPO_STORE_BYTES", detail);
}

function baseSteps(text: string | undefined): boolean {
  if (text === undefined || text === "" || text === "off") return false;
  if (text === "on") return true;
  const detail = `ANTIPHON_BASE_STEPS=${JSON.stringify(text)} is neither "on" nor "off"`;
  throw invalid("ANTIPHON_BASE_STEPS", detail);
}

function archive(text: string | undefined): ArchiveTiming | null {
  if (text === "never") return null;
  const afterS = text === undefined || text === "" ? limits.archiveAfterS : Number(text);
  if (Number.isInteger(afterS) && afterS >= 1) return { afterMs: afterS * 1000, everyMs: 30_000 };
  const detail = `ANTIPHON_ARCHIVE_AFTER_S=${JSON.stringify(text)} is neither a whole number of seconds from 1 nor "never"`;
  throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable: "ANTIPHON_ARCHIVE_AFTER_S" } });
}
