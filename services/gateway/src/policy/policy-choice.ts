// Which profiles of the deployment hold for a repository. Pure.
//
// Invariants:
//   PC1 A repository has several places (its work tree, and where its branches are), and the profile of each holds: a
//       work tree or a link elsewhere brings no weaker profile.
//   PC2 A profile is found by where the repository is and by who was authenticated, never by what the caller calls it.
import type { PolicyConfig, PolicyProfile, PolicyRule } from "@antiphon/contracts";
import { pathMatcher } from "@antiphon/git/patch/glob";

export interface Holding {
  /** The profile's key in the configuration. */
  readonly key: string;
  readonly profile: PolicyProfile;
  /** The directory it holds for. */
  readonly place: string;
  /** Index of the rule that says so; null: none does, it is the default profile. */
  readonly rule: number | null;
}

/** PC1. Each profile once; `places` are absolute paths. */
export function profilesFor(
  config: PolicyConfig,
  places: readonly string[],
  principal: string,
): readonly Holding[] {
  const held = new Map<string, Holding>();
  for (const place of places) {
    const { rules = [], profiles, defaultProfile } = config;
    const at = rules.findIndex((rule) => holds(rule, place, principal));
    const key = rules[at]?.profile ?? defaultProfile;
    const profile = profiles[key];
    if (profile !== undefined && !held.has(key))
      held.set(key, { key, profile, place, rule: at === -1 ? null : at });
  }
  return [...held.values()];
}

/** PC2 */
function holds({ repo, name, principal: wanted }: PolicyRule, place: string, principal: string): boolean {
  if (wanted !== undefined && wanted !== principal) return false;
  if (name !== undefined && !pathMatcher([name]).matches(nameOf(place))) return false;
  return repo === undefined || repo === "/" || isWithin(place, repo);
}

function isWithin(place: string, glob: string): boolean {
  const matcher = pathMatcher([glob]);
  for (let path = place.replace(/^\/+/, ""); path !== ""; path = above(path))
    if (matcher.matches(path)) return true;
  return false;
}

function above(path: string): string {
  const cut = path.lastIndexOf("/");
  return cut === -1 ? "" : path.slice(0, cut);
}

function nameOf(place: string): string {
  const parts = place.split("/").filter((part) => part !== "");
  return (parts.at(-1) ?? "").replace(/\.git$/, "");
}
