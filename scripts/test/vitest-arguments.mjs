const COMMIT = ["unit", "integration", "e2e"];
const ALL = [...COMMIT, "simulation", "chaos"];

/**
 * Translates the arguments of `npm test` into vitest's. A word, even the value of an option (`-t cursor`), selects files
 * beyond the tier of a commit.
 *
 * @param {readonly string[]} given
 * @returns {string[]}
 */
export function vitestArguments(given) {
  const passed = given.filter((argument) => argument !== "--all" && argument !== "--watch");
  const everything = given.includes("--all") || passed.some((argument) => !argument.startsWith("-"));
  const watch = given.includes("--watch");
  const projects = everything ? ALL : watch ? ["unit"] : COMMIT;
  return [
    watch ? "watch" : "run",
    ...projects.flatMap((project) => ["--project", project]),
    ...(everything ? [] : ["--mode", "commit"]),
    ...passed,
  ];
}
