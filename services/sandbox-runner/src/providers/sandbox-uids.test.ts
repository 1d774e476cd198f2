import { expect, it } from "vitest";
import { beginOf, bestUid, ENVIRONMENT_GID, freeUids, SANDBOX_UID } from "./sandbox-uids.ts";

const all = [...freeUids("layered", new Set()), ...freeUids("other", new Set())];

it("users are below the end of a remapped engine's range, and neither people's nor systemd's", () => {
  expect(new Set(all).size).toBe(448);
  for (const uid of all) expect(uid > 60_705 && uid < 61_184 && uid !== SANDBOX_UID).toBe(true);
});

it("a user that a container has is not free, and the two parts share none", () => {
  const [first = 0, second] = freeUids("layered", new Set());
  expect(freeUids("layered", new Set([first]))[0]).toBe(second);
  expect(freeUids("other", new Set(all))).toEqual([]);
  const other = new Set(freeUids("other", new Set()));
  expect(freeUids("layered", other)).toHaveLength(128);
});

it("the owners of environments and their group are nobody else's", () => {
  const owners = freeUids("owner", new Set());
  expect(owners.filter((uid) => all.includes(uid))).toEqual([]);
  for (const id of [...owners, ENVIRONMENT_GID]) expect(id > 60_705 && id < 61_184).toBe(true);
  expect([...owners, ...all]).not.toContain(ENVIRONMENT_GID);
});

it("two instances begin at different users, and each meets all of them", () => {
  const [one, other] = ["ant-168009fd4f", "ant-dbcc23a024"].map((name) =>
    freeUids("layered", new Set(), beginOf(name)),
  );
  expect(one?.slice(0, 8)).not.toEqual(other?.slice(0, 8));
  expect(one?.toSorted()).toEqual(other?.toSorted());
});

it("the user with most of the wanted layers is best, then the first", () => {
  const copies = new Map([
    [2, 1],
    [3, 2],
    [5, 2],
  ]);
  expect(bestUid([1, 2, 3, 5], copies)).toBe(3);
  expect(bestUid([1, 2, 5], copies)).toBe(5);
  expect(bestUid([1, 4], copies)).toBe(1);
  expect(bestUid([], copies)).toBeUndefined();
});
