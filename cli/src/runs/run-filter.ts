// Which runs a command is about: by status, repository and time. Flags of `runs`, or one text such as `status=failed,since=7d`.
import { existsSync, realpathSync } from "node:fs";
import { looksLikeUrl, repositoryUrl } from "@antiphon/contracts/shapes/repository-url";
import { usage } from "../failure.ts";
import { repositoryOf } from "./repository-place.ts";
import { sinceTime, STATUSES, type RunFilter } from "./run-lines.ts";

export interface FilterFlags {
  readonly status?: string;
  readonly repo?: string;
  readonly since?: string;
}

export function filterOf({ status, repo, since }: FilterFlags): RunFilter {
  const at = since === undefined ? null : sinceTime(since, Date.now());
  if (since !== undefined && at === null)
    throw usage(`--since takes a span such as 2h or 7d, or a date, not ${JSON.stringify(since)}`);
  return { status: status ?? null, repo: repo === undefined ? null : recordedPlace(repo), since: at };
}

/** As runs have it on record: a URL, or the top of a work tree, without links. A repository that is gone has runs, too. */
function recordedPlace(repo: string): string {
  const place = repositoryOf(repo);
  if (looksLikeUrl(place)) {
    const parsed = repositoryUrl(place);
    if ("fault" in parsed) throw usage(`the URL of the repository ${parsed.fault}`);
    return parsed.url;
  }
  return existsSync(place) ? repositoryOf(undefined, realpathSync(place)) : place;
}

const KEYS = ["status", "repo", "since"] as const;

/** `all` selects every run. */
export function filterFlags(text: string): FilterFlags {
  if (text === "all") return {};
  const flags: Partial<Record<(typeof KEYS)[number], string>> = {};
  for (const part of text.split(",")) {
    const at = part.indexOf("=");
    const [name, value] = [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    const key = KEYS.find((one) => one === name);
    if (at < 1 || key === undefined || value === "" || flags[key] !== undefined)
      throw usage(
        `--runs takes all, or ${KEYS.map((one) => `${one}=...`).join(",")}, each once; not ${JSON.stringify(part)}`,
      );
    if (key === "status" && !(STATUSES as readonly string[]).includes(value))
      throw usage(`--runs: status is one of ${STATUSES.join(", ")}, not ${JSON.stringify(value)}`);
    flags[key] = value;
  }
  return flags;
}
