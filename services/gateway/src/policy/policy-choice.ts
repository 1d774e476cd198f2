// Selects the deployment's profiles that apply to a repository. Pure.
//
// A profile is selected by the repository's real location and the authenticated principal, never by a name the caller
// gives. A repository has several locations (its work tree and the directory of its branches), and the profile of each
// applies, so a link or another work tree does not lead to a weaker profile. Many servers read a URL in any case, and others
// have another repository there, so the profiles of both readings apply.
import type { PolicyConfig, PolicyProfile, PolicyRule } from "@antiphon/contracts";
import { looksLikeUrl } from "@antiphon/contracts";
import { pathMatcher } from "@antiphon/git/patch/glob";

export interface Holding {
  /** The profile's key in the configuration. */
  readonly key: string;
  readonly profile: PolicyProfile;
  /** The directory or URL it applies to. */
  readonly place: string;
  /** Index of the rule that selects it; null: it is the default profile. */
  readonly rule: number | null;
}

/** Returns each profile once; `places` are absolute paths, or the URL of a remote repository. */
export function profilesFor(
  config: PolicyConfig,
  places: readonly string[],
  principal: string,
): readonly Holding[] {
  const held = new Map<string, Holding>();
  const { rules = [], profiles, defaultProfile } = config;
  for (const { place, read } of places.flatMap(readingsOf)) {
    const at = rules.findIndex((rule) => holds(rule, place, principal, read));
    const key = rules[at]?.profile ?? defaultProfile;
    const profile = profiles[key];
    if (profile !== undefined && !held.has(key))
      held.set(key, { key, profile, place, rule: at === -1 ? null : at });
  }
  return [...held.values()];
}

interface Reading {
  readonly place: string;
  /** Takes the place and a rule's glob to what is compared. */
  readonly read: (text: string) => string;
}

const FILE = "file://";
const asWritten = (text: string): string => text;
const inAnyCase = (text: string): string => text.toLowerCase();

/** A URL of a directory of the machine is that directory, too. */
function readingsOf(place: string): Reading[] {
  const own = { place, read: asWritten };
  if (!looksLikeUrl(place)) return [own];
  const local = place.startsWith(FILE) ? [{ place: place.slice(FILE.length), read: asWritten }] : [];
  return [own, { place, read: inAnyCase }, ...local];
}

function holds(
  { repo, name, principal: wanted }: PolicyRule,
  place: string,
  principal: string,
  read: Reading["read"],
): boolean {
  if (wanted !== undefined && wanted !== principal) return false;
  if (name !== undefined && !pathMatcher([read(name)]).matches(read(nameOf(place)))) return false;
  return repo === undefined || repo === "/" || isWithin(read(place), read(repo));
}

function isWithin(place: string, glob: string): boolean {
  const matcher = pathMatcher([looksLikeUrl(glob) ? `/${asPath(withPlainHost(glob))}` : glob]);
  for (let path = asPath(place); path !== ""; path = above(path)) if (matcher.matches(path)) return true;
  return false;
}

/** A server has the same repository with and without `.git` at the end of its URL. */
function asPath(place: string): string {
  if (!looksLikeUrl(place)) return place.replace(/^\/+/, "");
  return place
    .replace("://", ":/")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");
}

/** Hosts are known in lower case. */
function withPlainHost(url: string): string {
  return url.replace(/^[^/]*\/\/[^/]*/, (start) => start.toLowerCase());
}

function above(path: string): string {
  const cut = path.lastIndexOf("/");
  return cut === -1 ? "" : path.slice(0, cut);
}

function nameOf(place: string): string {
  const parts = place.split("/").filter((part) => part !== "");
  return (parts.at(-1) ?? "").replace(/\.git$/, "");
}
