import { describe, expect, test } from "vitest";
import { check, INVARIANTS } from "./check.ts";
import { violationsOf, type Counterexample } from "./counterexample.ts";
import type { History } from "./history.ts";
import { PLANTED_APPROVAL } from "./testing/planted-approval.ts";
import { PLANTED_CLIENT } from "./testing/planted-client.ts";
import { PLANTED_EVIDENCE } from "./testing/planted-evidence.ts";
import { PLANTED_GIVEN_UP } from "./testing/planted-given-up.ts";
import { PLANTED_LANDING } from "./testing/planted-landing.ts";
import { PLANTED_MACHINE } from "./testing/planted-machine.ts";
import type { Plant } from "./testing/plant.ts";

const PLANTS: readonly Plant[] = [
  ...PLANTED_APPROVAL,
  ...PLANTED_CLIENT,
  ...PLANTED_GIVEN_UP,
  ...PLANTED_LANDING,
  ...PLANTED_MACHINE,
  ...PLANTED_EVIDENCE,
];

function sizeOf(example: Counterexample): number {
  return Object.values(example).reduce((sum: number, items: readonly unknown[]) => sum + items.length, 0);
}

/** All histories that lack exactly one item of the counterexample. */
function* lessOne(history: History, example: Counterexample): Generator<History> {
  for (const [part, items] of Object.entries(example)) {
    for (let i = 0; i < items.length; i += 1) {
      yield { ...history, ...example, [part]: (items as readonly unknown[]).toSpliced(i, 1) };
    }
  }
}

describe("a planted violation is caught by its invariant, with a counterexample that cannot be made smaller", () => {
  test.each(PLANTS.map((plant) => [plant.invariant, plant.name, plant] as const))("%s %s", (id, _, plant) => {
    const history = plant.history();
    const { violations } = check(history);
    const found = violations.find(({ invariant, rule }) => invariant === id && rule === plant.rule);
    expect(
      found,
      JSON.stringify(violations.map(({ invariant, rule, what }) => [invariant, rule, what])),
    ).toBeDefined();
    expect([plant.invariant, ...(plant.also ?? [])]).toEqual(
      expect.arrayContaining(violations.map(({ invariant }) => invariant)),
    );
    const example = found?.counterexample;
    const invariant = INVARIANTS.find((one) => one.id === id);
    if (found === undefined || example === undefined || example === null || invariant === undefined)
      throw new Error("no counterexample");
    const again = (smaller: History): boolean =>
      violationsOf(smaller, invariant, found.runId).some(({ what }) => what === found.what);
    expect(again({ ...history, ...example })).toBe(true);
    expect([...lessOne(history, example)].some(again)).toBe(false);
    expect(sizeOf(example)).toBeLessThanOrEqual(plant.atMost);
  });
});

test("every invariant has at least two planted violations, and there are more than 25 in all", () => {
  const counts = new Map(INVARIANTS.map(({ id }) => [id, 0]));
  for (const { invariant } of PLANTS) counts.set(invariant, (counts.get(invariant) ?? 0) + 1);
  expect([...counts.values()].every((count) => count >= 2)).toBe(true);
  expect(PLANTS.length).toBeGreaterThan(25);
});
