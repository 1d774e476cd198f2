/** Which programs the image must have for a check that discovery finds. Programs that setup installs are not among them. Pure. */

/** One program of each group is enough. */
export type NeededGroups = readonly (readonly string[])[];

/** By the first words of the command. A package manager and Bats are installed by npm, if the image lacks them. */
const NEEDS: readonly (readonly [RegExp, NeededGroups])[] = [
  [/^npm /, [["npm"]]],
  [/^pnpm /, [["pnpm", "npm"]]],
  [/^yarn /, [["yarn", "npm"]]],
  [/^make /, [["make"]]],
  [/^python3 /, [["python3"]]],
  [/^cargo /, [["cargo"]]],
  [/^go /, [["go"]]],
  [/^mvn /, [["mvn"]]],
  [/^gradle /, [["gradle"]]],
  [/^sh \.\/(mvnw|gradlew) /, [["java"]]],
  [/^bundle exec /, [["bundle"]]],
  [/^(rake|rspec)/, [["ruby"]]],
  [/^composer /, [["composer"]]],
  [/^(vendor\/bin\/)?phpunit/, [["php"]]],
  [/^cmake /, [["cmake"]]],
  [/^prove /, [["prove"]]],
  [/^bats /, [["bats", "npm"]]],
  [/^bin\/bats /, [["bash"]]],
];

/** Every program of the table, to be looked for in an image. */
export const CHECK_PROGRAMS: readonly string[] = [...new Set(NEEDS.flatMap(([, groups]) => groups.flat()))];

export function programsForCheck(command: string): NeededGroups {
  return NEEDS.find(([start]) => start.test(command))?.[1] ?? [];
}

/** Whether the check cannot start in an image without these programs. */
export function isLacking(command: string, lacks: readonly string[]): boolean {
  return programsForCheck(command).some((group) => group.every((program) => lacks.includes(program)));
}
