import { expect, test } from "vitest";
import { UnderWay } from "./under-way.ts";

test("associate/A1: a delivery of an attempt under way in this process is left to that work at once; a later one is handled", async () => {
  const underWay = new UnderWay();
  let end = (_: string): void => undefined;
  const first = underWay.run("attempt", () => new Promise<string>((resolve) => (end = resolve)));
  expect(underWay.has("attempt")).toBe(true);
  expect(await underWay.run("attempt", async () => "second")).toBeNull();
  end("first");
  expect(await first).toBe("first");
  expect(underWay.has("attempt")).toBe(false);
  expect(await underWay.run("attempt", async () => "third")).toBe("third");
});

test("an attempt whose work fails is no longer under way", async () => {
  const underWay = new UnderWay();
  await expect(underWay.run("attempt", () => Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  expect(await underWay.run("attempt", async () => "again")).toBe("again");
});

test("other attempts do not wait", async () => {
  const underWay = new UnderWay();
  let end = (_: string): void => undefined;
  const first = underWay.run("one", () => new Promise<string>((resolve) => (end = resolve)));
  expect(await underWay.run("other", async () => "other")).toBe("other");
  end("one");
  expect(await first).toBe("one");
});
