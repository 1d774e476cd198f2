/** The policy over a corpus of cheats and of honest changes near them. `npx tsx test/cheats/main.ts` prints the table. */
import { describe, expect, it } from "vitest";
import { GROUNDS } from "../../../test/cheats/corpus.ts";
import { answers, expectations, triedIn } from "../../../test/cheats/answers.ts";
import { tally, total } from "../../../test/cheats/table.ts";

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

  it("holds more than 400 cheats and more than 300 honest changes, in more than fifteen ecosystems", () => {
    const all = GROUNDS.flatMap((ground) => triedIn(ground, expectations(ground)));
    const rows = tally(all);
    const { cheats, caught, honest, falselyRefused } = total(rows);
    expect({ caught, falselyRefused }).toEqual({ caught: cheats, falselyRefused: 0 });
    expect(cheats).toBeGreaterThan(400);
    expect(honest).toBeGreaterThan(300);
    expect(rows.size).toBeGreaterThan(15);
  });
});
