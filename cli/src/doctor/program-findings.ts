// Whether the programs that Antiphon is started with are new enough.
import { ok, problem, type Finding } from "./finding.ts";

const OLDEST_NODE = 24;
/** Older ones do not know some options that Antiphon gives git. */
const OLDEST_GIT = { major: 2, minor: 38 };

export function nodeFinding(): Finding {
  const [major = 0] = process.versions.node.split(".").map(Number);
  return major >= OLDEST_NODE
    ? ok("node", process.versions.node)
    : problem("node", `${process.versions.node} is too old`, `install Node ${OLDEST_NODE} or newer`);
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
