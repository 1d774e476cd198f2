/** The events of a session as a stream: pushed, resumed without gaps and duplicates, and enough to rebuild the session. */
import { get, type IncomingMessage } from "node:http";
import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { validate, type SessionEvent } from "@antiphon/contracts";
import { SseParser } from "../../../cli/src/gateway/sse-parser.ts";
import { readDirectorConfig } from "../../../services/director/src/config.ts";
import { FileBacklog } from "../../../services/director/src/work-items/file-backlog.ts";
import { sessionView } from "../../../services/gateway/src/sessions/session-view.ts";
import { cleanUpRepos, makeRepo, tempDir } from "../../support/repo.ts";
import { errorOf, openWorld, type World } from "./gateway-world.ts";
import { openClient, type SessionClient } from "./session-world.ts";

let world: World;
let repo: { name: string; path: string };
const TICKET = { id: "7", title: "Change a", status: "open", tags: ["small"] };
const patch = (from: string, to: string): object => ({
  patchContent: `--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-${from}\n+${to}\n`,
});

beforeAll(async () => {
  const directory = tempDir();
  repo = { name: "app", path: makeRepo({ files: { "a.txt": "a\n" } }).path };
  mkdirSync(directory, { recursive: true });
  writeFileSync(new FileBacklog(directory).pathOf(repo), JSON.stringify({ v: 1, items: [TICKET] }));
  world = await openWorld({}, {}, readDirectorConfig({ ANTIPHON_WORK_ITEMS: `file:${directory}` }));
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

class Watcher {
  readonly events: SessionEvent[] = [];
  #response: IncomingMessage | null = null;
  readonly #woken: (() => void)[] = [];

  async open(session: string, after?: number): Promise<this> {
    const resume = after === undefined ? {} : { "last-event-id": String(after) };
    const headers = { accept: "text/event-stream", ...resume };
    const parser = new SseParser();
    await new Promise<void>((resolve, reject) => {
      get(`${world.url}/sessions/${session}/events`, { headers }, (response) => {
        this.#response = response;
        response.setEncoding("utf8").on("data", (text: string) => {
          for (const { id, event, data } of parser.push(text)) {
            const told = JSON.parse(data) as SessionEvent;
            expect(validate("SessionEvent", told)).toMatchObject({ ok: true });
            expect([id, event]).toEqual([String(told.sequence), told.event]);
            this.events.push(told);
          }
          for (const wake of this.#woken.splice(0)) wake();
        });
        response.once("error", () => undefined); // It is cut on purpose.
        resolve();
      }).once("error", reject);
    });
    return this;
  }

  async until(done: (events: readonly SessionEvent[]) => boolean): Promise<void> {
    while (!done(this.events)) await new Promise<void>((wake) => this.#woken.push(wake));
  }

  cut(): void {
    this.#response?.destroy();
  }
}

const isEnd = (id: string) => (events: readonly SessionEvent[]) =>
  events.some((one) => one.event === "CommandCompleted" && one.payload.commandId === id);
const open = (more: object = {}): Promise<SessionClient> => openClient(world, repo, more);

describe("the event stream of a session", () => {
  it("pushes each event as it happens, once and in order", async () => {
    const session = await open();
    const watcher = await new Watcher().open(session.id);
    await session.run("ApplyPatch", patch("a", "b"), "First");
    await watcher.until(isEnd("First"));
    await session.run("GetDiff", {}, "Second");
    await watcher.until(isEnd("Second"));
    watcher.cut();
    expect(watcher.events).toEqual(await session.events());
  });

  it("is resumed after Last-Event-ID without a gap and without duplicates, however often it is cut", async () => {
    const session = await open();
    const seen: SessionEvent[] = [];
    for (let i = 0; i < 8; i += 1) {
      const id = `Cut-${i}`;
      const watcher = await new Watcher().open(session.id, seen.at(-1)?.sequence);
      const running = session.run("GetDiff", {}, id);
      await watcher.until((events) => events.length > 0);
      watcher.cut(); // In the middle of the command.
      await running;
      seen.push(...watcher.events);
    }
    const last = await new Watcher().open(session.id, seen.at(-1)?.sequence);
    await last.until(isEnd("Cut-7"));
    last.cut();
    const all = [...seen, ...last.events];
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, i) => i + 1));
    expect(all).toEqual(await session.events());
  });

  it("is refused for an id that the session does not have, instead of replaying everything", async () => {
    const session = await open();
    for (const id of ["x", "-1", "2", "99999999999999999999"]) {
      const headers = { accept: "text/event-stream", "last-event-id": id };
      const answer = await world.call("GET", `/sessions/${session.id}/events`, { headers });
      expect([answer.status, errorOf(answer).path]).toEqual([400, "Last-Event-ID"]);
    }
  });

  it("rebuilds the session: its replay is what the gateway shows", async () => {
    const session = await open({ workItem: { id: "7" } });
    const watcher = await new Watcher().open(session.id);
    await session.run("CreateBranch", { branchName: "change-a" });
    await session.run("ApplyPatch", patch("nowhere", "b"));
    await session.run("ApplyPatch", patch("a", "b"));
    await session.run("QueryBacklog");
    await session.run("QueryWorkItem", { item: { id: "7" } });
    await session.run("TransitionTicket", { item: { id: "7" }, state: "*" });
    await session.run("Commit", { message: "Change a", includePaths: [] }, "Last");
    await watcher.until(isEnd("Last"));
    watcher.cut();
    const { body } = await world.call("GET", `/sessions/${session.id}`);
    const { config, ...shown } = body;
    expect(config).toMatchObject({ sessionId: session.id, workItem: { id: "7" } });
    const replayed = sessionView(watcher.events);
    expect(replayed).toEqual(shown);
    expect(replayed.commands.map(({ state }) => state)).toEqual([
      ...["succeeded", "failed", "succeeded", "succeeded", "succeeded", "rejected", "succeeded"],
    ]);
    expect(new Set(watcher.events.map(({ event }) => event))).toEqual(
      new Set([
        ...["SessionStatusChanged", "PlanUpdated", "CommandAccepted", "CommandRejected", "CommandCompleted"],
        ...["ArtifactAvailable", "ConflictDetected", "BacklogQueried", "WorkItemQueried"],
      ]),
    );
  });
});

describe("the plan of a session", () => {
  it("is its ticket, and is told when the ticket was read and when the session has a branch", async () => {
    const session = await open({ workItem: { id: "7" } });
    await session.run("CreateBranch", { branchName: "ticket-7" });
    await session.run("QueryWorkItem", { item: { id: "7" } });
    await session.run("QueryWorkItem", { item: { id: "7" } });
    const plans = (await session.events()).flatMap((one) =>
      one.event === "PlanUpdated" ? [one.payload.plan] : [],
    );
    const node = { id: "7", dependsOn: [], workItem: { id: "7" } };
    expect(plans).toEqual([
      { nodes: [{ ...node, title: "7", tags: [] }] },
      { nodes: [{ ...node, title: "7", tags: [], suggestedBranch: "ticket-7" }] },
      { nodes: [{ ...node, title: "Change a", tags: ["small"], suggestedBranch: "ticket-7" }] },
    ]);
    for (const plan of plans) expect(validate("TaskPlan", plan)).toMatchObject({ ok: true });
  });
});
