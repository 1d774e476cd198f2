const COMMIT = ["unit", "servers", "own-process"];
const ALL = [...COMMIT, "simulation", "chaos"];
const NIGHTLY = [...ALL, "nightly"];
const OWN = ["--all", "--nightly", "--watch"];

/**
 * Translates the arguments of `npm test` into vitest's. A word, even the value of an option (`-t cursor`), selects files
 * beyond the tier of a commit.
 *
 * @param {readonly string[]} given
 * @returns {string[]}
 */
export function vitestArguments(given) {
  const passed = given.filter((argument) => !OWN.includes(argument));
  const everything = given.includes("--all") || passed.some((argument) => !argument.startsWith("-"));
  const watch = given.includes("--watch");
  const isNightly = given.includes("--nightly");
  const projects = isNightly ? NIGHTLY : everything ? ALL : watch ? ["unit"] : COMMIT;
  return [
    watch ? "watch" : "run",
    ...projects.flatMap((project) => ["--project", project]),
    ...(everything || isNightly ? [] : ["--mode", "commit"]),
    ...passed,
  ];
}
