import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createLogger } from "@antiphon/runtime";
import { finishRun } from "@antiphon/runtime/testing/finished-run";
import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tellForever } from "./notice-loop.ts";
import { NoticeTurn } from "./notice-turn.ts";

let server: Server;
let told: string[];
/** The status for a run's notice. */
let answer: (runId: string) => number;
let stop: AbortController;

beforeEach(async () => {
  told = [];
  stop = new AbortController();
  server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { data } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { data: { run: string } };
      told.push(data.run);
      response.writeHead(answer(data.run)).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Tells of two ended runs, `run_a` first, until `run_b` was told. Returns the errors of the log. */
async function tellBoth(): Promise<string[]> {
  const journal = new MemoryJournal();
  for (const runId of ["run_a", "run_b"]) await finishRun(journal, runId);
  const items = ["run_a", "run_b"].map((runId, i) => ({ runId, after: { place: i + 1 } }));
  const errors: string[] = [];
  const write = (line: string): void => {
    const { level, run } = JSON.parse(line) as { level: string; run: string };
    if (level === "error") errors.push(run);
  };
  const log = createLogger("notices", { destination: { write } });
  await tellForever({
    settings: {
      url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
      secret: Buffer.alloc(32, 7),
      page: null,
    },
    turn: new NoticeTurn({ kv: new MemoryKv(), by: "one", log }),
    news: {
      ends: () => Promise.resolve({ place: 0 }),
      next: ({ place = 0 }) => Promise.resolve(items.slice(place)),
    },
    backend: { read: (runId) => journal.read(runId) },
    log,
    signal: stop.signal,
    everyMs: 1,
    refusedMs: 600,
  });
  return errors;
}

it("gateway/G11: a notice that is refused for good is given up after a while, named in the log, and those behind it are told", async () => {
  answer = (runId) => {
    if (runId === "run_b") stop.abort();
    return runId === "run_a" ? 422 : 204;
  };
  expect(await tellBoth()).toEqual(["run_a"]);
  expect(told.filter((run) => run === "run_a").length).toBeGreaterThan(1);
  expect(told.at(-1)).toBe("run_b");
});

it("gateway/G11: a notice that is to come later, or that nobody hears, keeps its place", async () => {
  answer = (runId) => {
    if (told.filter((run) => run === runId).length >= 4) stop.abort();
    return 503;
  };
  expect(await tellBoth()).toEqual([]);
  expect(new Set(told)).toEqual(new Set(["run_a"]));
});
