/**
 * Of each ecosystem the first cheat and the first honest change, and the first of each named way to cheat, are carried out;
 * cheats-carried-out.test.ts has all.
 */
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { MORE_KINDS, NAMED_KINDS } from "../../cheats/carried.ts";
import { CARRIED } from "../../cheats/carried-out.ts";
import { verdictOn } from "../../cheats/rooms.ts";
import { patient } from "../../support/patience.ts";

const isThere = (program: string): boolean => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const all = CARRIED.flatMap(({ changes, ...ground }) =>
  changes.map(([name, change, expected, kind]) => ({
    ...{ title: `${ground.ecosystem}, ${ground.workflow}: ${name}`, name, kind, ground, change, expected },
  })),
);
const cheats = all.filter(({ kind }) => kind !== undefined);
const present = all.filter(({ ground }) => isThere(ground.needs));
const ecosystems = [...new Set(present.map(({ ground }) => ground.ecosystem))];
const few = new Set([
  ...ecosystems.flatMap((ecosystem) =>
    [true, false].flatMap((honest) => {
      const own = present.filter(({ ground }) => ground.ecosystem === ecosystem);
      return own.filter(({ kind }) => (kind === undefined) === honest).slice(0, 1);
    }),
  ),
  ...NAMED_KINDS.flatMap((named) => present.filter(({ kind }) => kind === named).slice(0, 1)),
]);

it.each([...few])(
  "the verdict is the expected one of $title",
  async ({ ground: { files, check, workflow, grants }, change, expected }) => {
    const { code, verdict, message } = await verdictOn({ files, check, change, workflow, grants });
    expect(code ?? verdict, message).toBe(expected);
  },
  patient(120_000),
);

it("at least three ecosystems were tried, so that a machine without programs is noticed", () => {
  expect(ecosystems.length).toBeGreaterThanOrEqual(3);
});

it.each([...NAMED_KINDS, ...MORE_KINDS])(
  "the corpus has at least two cheats that are refused of: %s",
  (named) => {
    const refused = cheats.filter(({ kind, expected }) => kind === named && expected !== "PASS");
    expect(refused.length).toBeGreaterThanOrEqual(2);
  },
);

it("at least sixty cheats are refused and sixty honest changes pass, and only what SECURITY.md calls undecided passes beside them", () => {
  const passing = cheats.filter(({ expected }) => expected === "PASS");
  expect(passing.filter(({ name }) => !name.startsWith("undecided: "))).toEqual([]);
  expect(cheats.length - passing.length).toBeGreaterThanOrEqual(60);
  const honest = all.filter(({ kind }) => kind === undefined);
  expect(honest.filter(({ name, expected }) => !name.startsWith("honest: ") || expected !== "PASS")).toEqual(
    [],
  );
  expect(honest.length).toBeGreaterThanOrEqual(60);
});
