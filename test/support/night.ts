/**
 * The cases of a file that run at night only. `npm run test:nightly` runs each file that `NIGHTLY` in test/tiers.ts names once
 * more, with these; they repeat at length what its other cases prove for each push.
 */
export const isNight = process.env["ANTIPHON_TEST_NIGHT"] === "1";

export const atNight = <Case>(...cases: readonly Case[]): readonly Case[] => (isNight ? cases : []);

/** How many: for each push, and at night. */
export const sized = (push: number, night: number): number => (isNight ? night : push);
