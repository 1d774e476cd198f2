// Whether the programs that Antiphon is started with are new enough.
import { ok, problem, type Finding } from "./finding.ts";

/** Older ones do not know some options that Antiphon gives git. */
const OLDEST_GIT = { major: 2, minor: 38 };

export function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const fits = major > 20 || (major === 20 && minor >= 19);
  return fits
    ? ok("node", process.versions.node)
    : problem("node", `${process.versions.node} is too old`, "install Node 20.19 or newer");
}

/** `said`: the output of `git --version`; empty when there is no git. */
export function gitFinding(said: string): Finding {
  const found = /(?<major>\d+)\.(?<minor>\d+)(?:\.\d+)?/.exec(said);
  if (found === null) return problem("git", "not found", "install git, for example: apt-get install git");
  const [version] = found;
  const { major, minor } = OLDEST_GIT;
  const [hasMajor, hasMinor] = [Number(found.groups?.["major"]), Number(found.groups?.["minor"])];
  const fits = hasMajor > major || (hasMajor === major && hasMinor >= minor);
  return fits
    ? ok("git", version)
    : problem("git", `${version} is older than ${major}.${minor}`, `install git ${major}.${minor} or newer`);
}
