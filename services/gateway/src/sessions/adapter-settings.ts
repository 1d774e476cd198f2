// What the deployment has to carry out commands of sessions with (seed 004, AdaptersConfig). Git and the sandbox are always
// there: they are the Director's and the sandbox-runner's.
import { AntiphonError } from "@antiphon/contracts";

export interface SessionAdapters {
  /** ANTIPHON_BUILD_ADAPTER: `sandbox` lets sessions build projects there. Default: none, since it is opt-in. */
  readonly build: boolean;
}

export const NO_ADAPTERS: SessionAdapters = { build: false };

export function adaptersOf(env: Readonly<Record<string, string | undefined>>): SessionAdapters {
  return { build: buildOf(env.ANTIPHON_BUILD_ADAPTER) };
}

function buildOf(text: string | undefined): boolean {
  if (text === undefined || text === "") return false;
  if (text === "sandbox") return true;
  const detail = `ANTIPHON_BUILD_ADAPTER=${JSON.stringify(text)} is not sandbox`;
  throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable: "ANTIPHON_BUILD_ADAPTER" } });
}
