/** Of each ecosystem the first cheat and the first honest change that are carried out; cheats-carried-out.test.ts has all. */
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { CARRIED } from "../../cheats/carried-out.ts";
import { verdictOn } from "../../cheats/rooms.ts";

const grounds = new Map([...CARRIED].reverse().map((ground) => [ground.ecosystem, ground]));
const isThere = (program: string): boolean => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
const few = [...grounds.values()]
  .filter(({ needs }) => isThere(needs))
  .flatMap(({ changes, ...ground }) =>
    [true, false]
      .flatMap((honest) => changes.filter(([name]) => name.startsWith("honest: ") === honest).slice(0, 1))
      .map(([name, change, expected]) => ({
        title: `${ground.ecosystem}: ${name}`,
        ground,
        change,
        expected,
      })),
  );

it.each(few)(
  "the verdict is the expected one of $title",
  async ({ ground: { files, check, workflow, grants }, change, expected }) => {
    const { code, verdict, message } = await verdictOn({ files, check, change, workflow, grants });
    expect(code ?? verdict, message).toBe(expected);
  },
  120_000,
);

it("at least three ecosystems were tried, so that a machine without programs is noticed", () => {
  expect(new Set(few.map(({ ground }) => ground.ecosystem)).size).toBeGreaterThanOrEqual(3);
});
