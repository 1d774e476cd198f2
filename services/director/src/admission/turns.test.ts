import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { heldIn, nextTurn, noTurns, queue, type Turns, type Waiting } from "./turns.ts";

const items = fc
  .array(fc.record({ tenant: fc.constantFrom("a", "b", "c", "d"), batch: fc.boolean() }), { maxLength: 60 })
  .map((list): Waiting[] => list.map((item, i) => ({ ...item, key: `k${i}` })));

function order(list: readonly Waiting[]): Waiting[] {
  let turns: Turns = list.reduce(queue, noTurns);
  const taken: Waiting[] = [];
  for (let next = nextTurn(turns); next !== null; next = nextTurn(turns)) {
    taken.push(next.item);
    turns = next.turns;
  }
  return taken;
}

describe("turns", () => {
  test("tell how many attempts wait, for each tenant and priority", () => {
    const list = [
      { key: "1", tenant: "a", batch: true },
      { key: "2", tenant: "a", batch: true },
      { key: "3", tenant: "a", batch: false },
    ];
    expect(heldIn(list.reduce(queue, noTurns))).toEqual([
      { tenant: "a", priority: "batch", attempts: 2 },
      { tenant: "a", priority: "interactive", attempts: 1 },
    ]);
    expect(heldIn(noTurns)).toEqual([]);
  });

  test("director/D9: each held attempt has exactly one turn, even if it is queued twice", () => {
    fc.assert(
      fc.property(items, (list) => {
        expect(
          order([...list, ...list])
            .map(({ key }) => key)
            .sort(),
        ).toEqual(list.map(({ key }) => key).sort());
      }),
    );
  });

  test("while both wait, one of any eight turns is a batch's and the others are interactive", () => {
    fc.assert(
      fc.property(items, (list) => {
        const taken = order(list);
        const lastBatch = taken.findLastIndex(({ batch }) => batch);
        const lastInteractive = taken.findLastIndex(({ batch }) => !batch);
        for (let i = 0; i + 8 <= lastBatch + 1; i += 1)
          expect(taken.slice(i, i + 8).some(({ batch }) => batch)).toBe(true);
        for (let i = 0; i + 2 <= lastInteractive + 1; i += 1)
          expect(taken.slice(i, i + 2).some(({ batch }) => !batch)).toBe(true);
      }),
    );
  });

  test("director/D9: between two turns of a tenant each waiting tenant of its class has one; a tenant's own order stays", () => {
    fc.assert(
      fc.property(items, (list) => {
        for (const batch of [false, true]) {
          const taken = order(list).filter((item) => item.batch === batch);
          taken.forEach((item, i) => {
            const again = taken.findIndex((other, j) => j > i && other.tenant === item.tenant);
            if (again === -1) return;
            const between = new Set(taken.slice(i, again).map(({ tenant }) => tenant));
            for (const later of taken.slice(again)) expect(between.has(later.tenant)).toBe(true);
            expect(list.indexOf(taken[again]!)).toBeGreaterThan(list.indexOf(item));
          });
        }
      }),
    );
  });
});
