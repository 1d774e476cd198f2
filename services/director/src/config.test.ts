import { expect, test } from "vitest";
import { readDirectorConfig } from "./config.ts";

test.each(["many", "0", "-1", "1.5", "1025"])("ANTIPHON_DIRECTOR_SLOTS=%s is refused by name", (text) => {
  expect(() => readDirectorConfig({ ANTIPHON_DIRECTOR_SLOTS: text })).toThrow(/ANTIPHON_DIRECTOR_SLOTS="/);
});

test("reads slots and repository roots, and has defaults for both", () => {
  expect(readDirectorConfig({})).toMatchObject({ slots: 16, repoRoots: [] });
  const env = { ANTIPHON_DIRECTOR_SLOTS: "4", ANTIPHON_REPO_ROOTS: "/srv/a:/srv/b" };
  expect(readDirectorConfig(env)).toMatchObject({ slots: 4, repoRoots: ["/srv/a", "/srv/b"] });
});
