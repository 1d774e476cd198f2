import { expect, test } from "vitest";
import { oneAtATime } from "./one-at-a-time.ts";

/** Work that ends when the test releases it, and a count of the work under way. */
function byHand() {
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const seen = { atOnce: 0, most: 0, begun: [] as string[] };
  const work = (name: string) => async (): Promise<string> => {
    seen.begun.push(name);
    seen.atOnce += 1;
    seen.most = Math.max(seen.most, seen.atOnce);
    try {
      await new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
      return name;
    } finally {
      seen.atOnce -= 1;
    }
  };
  return { ends, seen, work };
}

test("associate/A1: three deliveries of one attempt to one process are handled one after the other, even after a failure", async () => {
  const inTurn = oneAtATime();
  const { ends, seen, work } = byHand();
  const all = ["a", "b", "c"].map((name) => inTurn("attempt", work(name)).catch(String));
  await expect.poll(() => ends.length).toBe(1);
  ends[0]?.reject(new Error("lost"));
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.resolve();
  await expect.poll(() => ends.length).toBe(3);
  ends[2]?.resolve();
  expect(await Promise.all(all)).toEqual(["Error: lost", "b", "c"]);
  expect(seen).toMatchObject({ most: 1, begun: ["a", "b", "c"] });
});

test("deliveries of other attempts do not wait", async () => {
  const inTurn = oneAtATime();
  const { ends, work } = byHand();
  const both = ["one", "other"].map((key) => inTurn(key, work(key)));
  await expect.poll(() => ends.length).toBe(2);
  for (const { resolve } of ends) resolve();
  expect(await Promise.all(both)).toEqual(["one", "other"]);
});
