/** Cheats and honest changes that are carried out with checks that really run: what lands, and what does not. */
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { CARRIED } from "../../cheats/carried-out.ts";
import { verdictOn } from "../../cheats/rooms.ts";

describe.each(CARRIED.map((ground) => [`${ground.ecosystem}, ${ground.workflow}`, ground] as const))(
  "the verdict in %s",
  (_name, { needs, files, check, workflow, grants, changes }) => {
    const isThere = spawnSync("sh", ["-c", `command -v ${needs}`]).status === 0;
    if (!isThere) console.warn(`unavailable: this machine has no ${needs}, so ${check} is not tried`);
    it.runIf(isThere).each(changes.map(([name, change, expected]) => ({ name, change, expected })))(
      "when $name",
      async ({ change, expected }) => {
        const { code, verdict, message } = await verdictOn({ files, check, change, workflow, grants });
        expect(code ?? verdict, message).toBe(expected);
      },
      120_000,
    );
  },
);

it("the corpus has ten ecosystems", () => {
  expect(new Set(CARRIED.map(({ ecosystem }) => ecosystem)).size).toBeGreaterThanOrEqual(10);
});
