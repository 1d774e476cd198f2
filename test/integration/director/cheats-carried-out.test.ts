/** Cheats and honest changes that are carried out with checks that really run: what lands, and what does not. */
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { CARRIED } from "../../cheats/carried-out.ts";
import { verdictOn } from "../../cheats/rooms.ts";
import { patient } from "../../support/patience.ts";

/** The names of those that were carried out. */
const carried: string[] = [];

describe.each(CARRIED.map((ground) => [`${ground.ecosystem}, ${ground.workflow}`, ground] as const))(
  "the verdict in %s",
  (_name, { needs, files, check, workflow, grants, changes }) => {
    const isThere = spawnSync("sh", ["-c", `command -v ${needs}`]).status === 0;
    if (!isThere) console.warn(`unavailable: this machine has no ${needs}, so ${check} is not tried`);
    it.runIf(isThere).each(changes.map(([name, change, expected]) => ({ name, change, expected })))(
      "when $name",
      async ({ name, change, expected }) => {
        const { code, verdict, message } = await verdictOn({ files, check, change, workflow, grants });
        expect(code ?? verdict, message).toBe(expected);
        carried.push(name);
      },
      patient(120_000),
    );
  },
);

it("at least 60 cheats and 60 honest changes were carried out", () => {
  const honest = carried.filter((name) => name.startsWith("honest: "));
  const cheats = carried.filter((name) => !/^(honest|undecided): /.test(name));
  expect(cheats.length).toBeGreaterThanOrEqual(60);
  expect(honest.length).toBeGreaterThanOrEqual(60);
});

it("the corpus has ten ecosystems", () => {
  expect(new Set(CARRIED.map(({ ecosystem }) => ecosystem)).size).toBeGreaterThanOrEqual(10);
});
