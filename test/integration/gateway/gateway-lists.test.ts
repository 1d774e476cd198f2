/** Where a list and a stream go on: cursors of pages (run-list.test.ts holds the order of runs), and `Last-Event-ID`. */
import { closedRecord } from "@antiphon/contracts/testing/records";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLogger } from "@antiphon/runtime";
import { natsBackend } from "../../../services/gateway/src/backend/nats-backend.ts";
import { RunList } from "../../../services/gateway/src/runs/run-list.ts";
import { cursorText } from "../../../services/gateway/src/http/paging.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { errorOf, intentFor, openWorld } from "./gateway-world.ts";
import type { World } from "./gateway-world.ts";

let world: World;
let repo: string;
beforeAll(async () => {
  world = await openWorld();
  repo = makeRepo({ files: { "a.txt": "1\n" } }).path;
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

async function begin(): Promise<string> {
  const { body } = await world.call("POST", "/intents", { body: intentFor(repo) });
  return String((await world.call("POST", `/intents/${String(body.intentId)}/run`)).body.runId);
}

describe("the list of runs", () => {
  it("reads an open run once, then only what came since, and shows it", async () => {
    const backend = natsBackend(world.bus, createLogger("test", { level: "silent" }), {
      maxOpenRuns: 10_000,
    });
    const reads: string[] = [];
    const read = (runId: string) => {
      reads.push(runId);
      return backend.read(runId);
    };
    const list = new RunList({ ...backend, read });
    const runId = await begin();
    const lineOf = async () => (await list.page(1, null)).runs[0];
    expect(await lineOf()).toMatchObject({ runId, status: "queued", paused: false });
    await world.call("POST", `/runs/${runId}/pause`);
    expect(await lineOf()).toMatchObject({ runId, paused: true });
    await world.call("POST", `/runs/${runId}/resume`);
    expect(await lineOf()).toMatchObject({ runId, paused: false });
    await world.journal.append(closedRecord(runId));
    const closed = await lineOf();
    expect(closed?.endedAt).toEqual(expect.any(String));
    expect(await lineOf()).toEqual(closed);
    expect(await new RunList(backend).page(1, null)).toMatchObject({ runs: [closed] });
    expect(reads).toEqual([runId]);
  });
});

describe("pages of a list", () => {
  interface Page {
    readonly runs: { readonly runId: string }[];
    readonly next: string | null;
  }
  const pageAt = async (path: string) => {
    const { status, body, headers } = await world.call("GET", path);
    expect(status).toBe(200);
    return { ...(body as unknown as Page), link: headers.link };
  };

  it("hold each run once while runs begin, and each names the next one in its body and its Link", async () => {
    const mine = [await begin(), await begin(), await begin(), await begin(), await begin()];
    const seen: string[] = [];
    for (let path: string | null = "/v1/runs?limit=2"; path !== null;) {
      const { runs, next, link } = await pageAt(path);
      seen.push(...runs.map(({ runId }) => runId));
      path =
        next === null
          ? null
          : (/^<(\/v1\/runs\?limit=2&cursor=[\w-]+)>; rel="next"$/.exec(String(link))?.[1] ?? "");
      if (next === null) expect(link).toBeUndefined();
      else expect(path).toContain(next);
      await begin();
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.slice(0, 5)).toEqual(mine.toReversed());
  });

  it("of dead letters, evidence and a run's records end with the last one", async () => {
    const runId = await begin();
    await world.call("POST", `/runs/${runId}/pause`);
    const first = await pageAt(`/runs/${runId}/events?limit=1`);
    expect(first).toMatchObject({ records: [{ type: "intent" }] });
    const second = await pageAt(`/runs/${runId}/events?limit=1&cursor=${first.next}`);
    expect(second).toMatchObject({ records: [{ type: "control" }], next: null });
    expect(await pageAt(`/runs/${runId}/evidence?limit=1`)).toMatchObject({ bundles: [], next: null });
    expect(await pageAt("/dead-letters?limit=1")).toMatchObject({ letters: [], next: null });
  });
});

it("a Last-Event-ID that is no id, or beyond the last record, is refused instead of replaying or skipping", async () => {
  const runId = await begin();
  const end = (await world.journal.read(runId))[0]?.seq ?? 0;
  const at = (id: string) => ({ headers: { accept: "text/event-stream", "last-event-id": id } });
  for (const id of ["x", "-1", "1e3", String(end + 1), "999999999999999"]) {
    const answer = await world.call("GET", `/runs/${runId}/events`, at(id));
    expect([answer.status, errorOf(answer).path], id).toEqual([400, "Last-Event-ID"]);
  }
  await world.journal.append(closedRecord(runId));
  const { text } = await world.call("GET", `/runs/${runId}/events`, at(String(end)));
  expect([...text.matchAll(/^event: (.*)$/gm)].map(([, event]) => event)).toEqual(["closed"]);
});

it.each([
  ["an empty cursor", "/runs?cursor=", 400, "ANT_CONTRACT_INVALID"],
  ["a made-up cursor", "/runs?cursor=abc", 400, "ANT_CONTRACT_INVALID"],
  ["a cursor of nothing", `/runs?cursor=${cursorText("runs", {})}`, 400, "ANT_CONTRACT_INVALID"],
  ["a cursor of another list", `/runs?cursor=${cursorText("dead-letters", 3)}`, 400, "ANT_CONTRACT_INVALID"],
  [
    "a cursor of letters",
    `/dead-letters?cursor=${cursorText("dead-letters", -1)}`,
    400,
    "ANT_CONTRACT_INVALID",
  ],
  ["a cursor of a session", "/sessions/ses_1/approvals?cursor=1", 404, "ANT_SESSION_NOT_FOUND"],
])("%s is refused", async (_what, path, status, code) => {
  const answer = await world.call("GET", path);
  expect([answer.status, errorOf(answer).code]).toEqual([status, code]);
});
