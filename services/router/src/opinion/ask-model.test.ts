import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "@antiphon/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { modelAsker } from "./ask-model.ts";

let server: Server;
let asked: number;
/** Null: the server gives no answer. */
let content: string | null;

const log = { warn: () => undefined } as unknown as Logger;
const { signal } = new AbortController();
const model = () => ({
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`,
  name: "m",
  key: null,
});

beforeEach(async () => {
  asked = 0;
  content = "PLAN";
  server = createServer((_, response) => {
    asked += 1;
    if (content !== null) response.end(JSON.stringify({ choices: [{ message: { content } }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test("a model that fails three times in a row is asked again after a minute", async () => {
  let now = 0;
  const ask = modelAsker(model(), log, () => now);
  content = "none of the four";
  for (let i = 0; i < 5; i += 1) expect(await ask("x", signal)).toBeNull();
  expect(asked).toBe(3);
  content = "PLAN";
  now = 60_000;
  expect(await ask("x", signal)).toBe("PLAN");
});

test("an answer in between counts the failures anew", async () => {
  const ask = modelAsker(model(), log);
  for (const said of ["?", "?", "PLAN", "?", "?", "PLAN"]) {
    content = said;
    await ask("x", signal);
  }
  expect(asked).toBe(6);
});

test("of questions that wait for an answer there are at most eight", async () => {
  content = null;
  const stop = new AbortController();
  const ask = modelAsker(model(), log);
  const waiting = Array.from({ length: 8 }, () => ask("x", stop.signal));
  expect(await ask("x", stop.signal)).toBeNull();
  stop.abort();
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 8 }, () => null));
});
