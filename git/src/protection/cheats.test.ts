/** The policy over a corpus of cheats and of honest changes near them. `npx tsx test/cheats/main.ts` prints the table. */
import { describe, expect, it } from "vitest";
import { GROUNDS } from "../../../test/cheats/corpus.ts";
import { answers } from "../../../test/cheats/answers.ts";

describe("the corpus", () => {
  it.each(GROUNDS.map((ground) => [`${ground.ecosystem}: ${ground.name}`, ground] as const))(
    "git/G4: each change of the corpus is answered as expected: %s",
    async (_name, ground) => {
      const given = await answers(ground);
      expect(given.map(({ change, answer }) => `${change}: ${answer}`)).toEqual(
        given.map(({ change, expected }) => `${change}: ${expected}`),
      );
    },
  );

  it("contains at least sixty cheats and sixty honest changes in eight ecosystems", () => {
    const count = (of: (ground: (typeof GROUNDS)[number]) => number): number =>
      GROUNDS.reduce((sum, ground) => sum + of(ground), 0);
    expect(count(({ cheats }) => Object.keys(cheats).length)).toBeGreaterThanOrEqual(60);
    expect(count(({ honest, proof }) => honest.length + (proof?.length ?? 0))).toBeGreaterThanOrEqual(60);
    expect(new Set(GROUNDS.map(({ ecosystem }) => ecosystem)).size).toBeGreaterThanOrEqual(8);
  });
});
