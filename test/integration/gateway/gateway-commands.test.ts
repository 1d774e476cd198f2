/** Contracts v1.3 over HTTP: a real nats-server, Director and gateway. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS, validate } from "@antiphon/contracts";
import type { SessionEntry, SessionEvent } from "@antiphon/contracts";
import { createLogger, openKv } from "@antiphon/runtime";
import { natsBackend } from "../../../services/gateway/src/backend/nats-backend.ts";
import { openSessionStore } from "../../../services/gateway/src/sessions/session-store.ts";
import type { SessionStore } from "../../../services/gateway/src/sessions/session-register.ts";
import { openGateway } from "../../../services/gateway/src/gateway.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { errorOf, openWorld } from "./gateway-world.ts";
import type { World } from "./gateway-world.ts";

let world: World;
let repo: { name: string; path: string };
const PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n";

beforeAll(async () => {
  world = await openWorld();
  repo = { name: "app", path: makeRepo({ files: { "a.txt": "a\n" } }).path };
  const profile = (name: string, more: object) => ({
    name,
    protectedBranches: ["main"],
    requireTestsBeforePush: true,
    requireApprovalForPush: false,
    allowedWorkItemTransitions: [],
    ...more,
  });
  await openKv(world.bus, BUCKETS.policies).put("config", {
    profiles: {
      usual: profile("usual", {}),
      tight: profile("tight", { limits: { perCommandCaps: { GetDiff: 5 } } }),
      slow: profile("slow", { limits: { callsPerMinute: 1 } }),
    },
    defaultProfile: "usual",
    globalLimits: {},
  });
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

async function open(policy?: string): Promise<string> {
  const { status, body } = await world.call("POST", "/sessions", {
    body: { repo, ...(policy === undefined ? {} : { policy }) },
  });
  expect(status).toBe(201);
  return String(body.sessionId);
}

/** The session's events once exactly so many commands are completed; requests answer before slow commands are. */
async function completed(session: string, count: number): Promise<SessionEvent[]> {
  for (;;) {
    const events = await eventsOf(session);
    const done = names(events).filter((name) => name === "CommandCompleted").length;
    expect(done).toBeLessThanOrEqual(count);
    if (done === count) return events;
  }
}

let issued = 0;
async function send(
  sessionId: string,
  command: string,
  payload: unknown,
  { id = `C-${(issued += 1)}`, agent }: { id?: string; agent?: string } = {},
): Promise<SessionEvent[]> {
  const correlation = { sessionId, ...(agent === undefined ? {} : { issuerAgentId: agent }) };
  const body = { command, commandId: id, correlation, payload };
  const answer = await world.call("POST", `/sessions/${sessionId}/commands`, { body });
  expect([answer.status, answer.text]).toEqual([202, answer.text]);
  return answer.body.events as SessionEvent[];
}

async function eventsOf(sessionId: string, query = ""): Promise<SessionEvent[]> {
  const { body } = await world.call("GET", `/sessions/${sessionId}/events${query}`);
  const events = body.events as SessionEvent[];
  for (const event of events) expect(validate("SessionEvent", event)).toMatchObject({ ok: true });
  return events;
}

const names = (events: readonly SessionEvent[]): string[] => events.map(({ event }) => event);
const runs = async (): Promise<unknown[]> => (await world.call("GET", "/runs")).body.runs as unknown[];

describe("policies", () => {
  it("gateway/G6: are applied before dispatch; rejections emit CommandRejected", async () => {
    const session = await open();
    const before = await runs();
    const [event, ...rest] = await send(session, "Push", { repo, branchName: "main" });
    expect(rest).toEqual([]);
    expect(event).toMatchObject({
      event: "CommandRejected",
      payload: {
        policyRule: "protectedBranches",
        reason: "main is protected (profile usual, rule protectedBranches)",
      },
    });
    expect(await runs()).toEqual(before);
    expect(names(await eventsOf(session))).toEqual(["SessionStatusChanged", "CommandRejected"]);
  });

  it("gateway/G6: hold even if many gateways and callers decide at once", async () => {
    const session = await open("tight");
    const sent = Array.from({ length: 12 }, () => send(session, "GetDiff", { repo }));
    const answers = (await Promise.all(sent)).map(names);
    expect(answers.filter(([first]) => first === "CommandAccepted")).toHaveLength(5);
    expect(answers.filter(([first]) => first === "CommandRejected")).toHaveLength(7);
    const events = await completed(session, 5);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i + 1));
  });

  it("give a throttled command the time of its next try", async () => {
    const session = await open("slow");
    await send(session, "QueryBacklog", {});
    const answer = await send(session, "QueryBacklog", {});
    expect(names(answer)).toEqual(["Throttled", "CommandRejected"]);
    expect(answer[0]).toMatchObject({ payload: { scope: "limits.callsPerMinute" } });
  });

  it("gateway/G6: belong to the deployment: a session selects one by name and cannot bring its own", async () => {
    const unknown = await world.call("POST", "/sessions", { body: { repo, policy: "mine" } });
    expect([unknown.status, errorOf(unknown).code]).toEqual([422, "ANT_POLICY_UNKNOWN"]);
    expect(errorOf(unknown).message).toContain("usual, tight, slow");
    const stored = await world.stored();
    for (const policy of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      const inherited = await world.call("POST", "/sessions", { body: { repo, policy } });
      expect([policy, inherited.status, errorOf(inherited).code]).toEqual([
        policy,
        422,
        "ANT_POLICY_UNKNOWN",
      ]);
    }
    expect(await world.stored()).toBe(stored);
    const brought = await world.call("POST", "/sessions", { body: { repo, policy: { name: "mine" } } });
    expect([brought.status, errorOf(brought).path]).toEqual([400, "/policy"]);
  });
});

describe("a command", () => {
  it("gateway/G6: is carried out once even if it is sent repeatedly", async () => {
    const session = await open();
    const before = await runs();
    const send1 = () => send(session, "ApplyPatch", { repo, patchContent: PATCH }, { id: "Once" });
    const first = await send1();
    expect(names(first)).toEqual(["CommandAccepted", "ArtifactAvailable", "CommandCompleted"]);
    expect(await send1()).toEqual(first);
    expect(await runs()).toEqual(before);

    const events = await eventsOf(session);
    expect(events.slice(1)).toEqual(first);
    expect(events[2]).toMatchObject({
      payload: { kind: "Diff", inlineText: expect.stringContaining("+b") as string },
    });
    expect(events[3]).toMatchObject({ payload: { commandId: "Once", outcome: "Success" } });
    expect(await eventsOf(session, "?after=3")).toEqual(events.slice(3));
    const { downloadUri } = events[2]?.payload as { downloadUri: string };
    const { inlineText } = events[2]?.payload as { inlineText: string };
    const file = await world.call("GET", downloadUri);
    expect([file.status, file.text]).toEqual([200, inlineText]);
    expect(file.headers["content-security-policy"]).toContain("sandbox");
    const foreign = await world.call("GET", downloadUri.replace(session, await open()));
    expect([foreign.status, errorOf(foreign).code]).toEqual([404, "ANT_BLOB_MISSING"]);
  });

  it("is refused if its id was given to another command, or to one with other fields", async () => {
    const session = await open();
    await send(session, "ApplyPatch", { repo, patchContent: PATCH }, { id: "Taken" });
    const again = (command: string, payload: object) =>
      world.call("POST", `/sessions/${session}/commands`, {
        body: {
          command,
          commandId: "Taken",
          correlation: { sessionId: session },
          payload: { repo, ...payload },
        },
      });
    for (const [command, payload] of [
      ["ApplyPatch", { patchContent: PATCH.replace("+b", "+c") }],
      ["GetDiff", {}],
    ] as const) {
      const answer = await again(command, payload);
      expect([answer.status, errorOf(answer).code]).toEqual([409, "ANT_SESSION_COMMAND_ID"]);
    }
    expect((await again("ApplyPatch", { patchContent: PATCH })).status).toBe(202);
  });

  it.each(["ArtifactAvailable", "CommandCompleted"] as const)(
    "reports artifact and end once each and in this order if another entry takes the register of %s",
    async (contested) => {
      const session = await open();
      const id = `Contested-${contested}`;
      const store = openSessionStore(world.bus);
      let taken = 0;
      const contest: SessionStore = {
        ...store,
        async write(sessionId, register, document) {
          if ("event" in document && document.event.event === contested && taken === 0) {
            taken = register;
            expect(await store.write(sessionId, register, elsewhere(sessionId, register))).toBe(true);
          }
          return store.write(sessionId, register, document);
        },
      };
      const log = createLogger("test", { level: "silent" });
      const other = openGateway(
        natsBackend(world.bus, log, { maxOpenRuns: 10_000 }),
        contest,
        () => "run_none",
      );
      const payload = { repo, patchContent: PATCH };
      const command = { command: "ApplyPatch", commandId: id, correlation: { sessionId: session }, payload };
      await other.sessions.command(session, command, "somebody");
      expect(taken).toBeGreaterThan(2);

      const events = await eventsOf(session);
      expect(events[taken - 1]?.event).toBe("SessionStatusChanged");
      expect(names(events.filter(({ correlation }) => correlation.commandId === id))).toEqual([
        "CommandAccepted",
        "ArtifactAvailable",
        "CommandCompleted",
      ]);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i + 1));
    },
  );

  it("reports artifact and end once each, even if many gateways carry the session on at once", async () => {
    const session = await open();
    const log = createLogger("test", { level: "silent" });
    const gateways = Array.from({ length: 3 }, () =>
      openGateway(
        natsBackend(world.bus, log, { maxOpenRuns: 10_000 }),
        openSessionStore(world.bus),
        () => "run_none",
      ),
    );
    const command = (id: string) => ({
      ...{ command: "ApplyPatch", commandId: id, correlation: { sessionId: session } },
      payload: { repo, patchContent: PATCH },
    });
    await Promise.all(
      gateways.flatMap(({ sessions }) => [
        sessions.command(session, command("Watched"), "somebody"),
        sessions.events(session, 0, null),
        sessions.command(session, command("Again"), "somebody"),
      ]),
    );
    await send(session, "GetDiff", { repo });
    const events = await completed(session, 3);
    const told = (id: string) => events.filter(({ correlation }) => correlation.commandId === id);
    const ends = [told("Watched").at(-1), told("Again").at(-1)].map((event) => event?.payload);
    expect(ends).toContainEqual(expect.objectContaining({ outcome: "Success" }));
    expect(ends).toContainEqual(expect.objectContaining({ errorCode: "ANT_PATCH_DOES_NOT_APPLY" }));
    expect(names(events).filter((name) => name === "ConflictDetected")).toHaveLength(1);
    await Promise.all(gateways.map(({ sessions }) => sessions.drain()));
  });

  it("fails with a code if there is no adapter for it", async () => {
    const session = await open();
    const built = await send(session, "BuildProject", { repo, projectPath: "app.csproj" });
    expect(built.at(-1)).toMatchObject({
      payload: { outcome: "Failure", errorCode: "ANT_ADAPTER_UNAVAILABLE" },
    });
  });

  it("is answered to the agent that issued it, not to the whole session", async () => {
    const session = await open();
    await send(session, "QueryBacklog", {}, { agent: "a" });
    await send(session, "QueryBacklog", {}, { agent: "b" });
    expect(names(await eventsOf(session))).toHaveLength(5);
    const own = await eventsOf(session, "?agent=a");
    expect(names(own)).toEqual(["SessionStatusChanged", "CommandAccepted", "CommandCompleted"]);
  });

  it("is refused if it is reserved, malformed, or of another session", async () => {
    const session = await open();
    const stored = await world.stored();
    const correlation = { sessionId: session };
    const spawn = { command: "SpawnSession", commandId: "C", correlation, payload: {} };
    const other = { command: "QueryBacklog", commandId: "C", correlation: { sessionId: "x" }, payload: {} };
    for (const [body, path] of [
      [spawn, "/command"],
      [other, "/correlation/sessionId"],
    ] as const) {
      const answer = await world.call("POST", `/sessions/${session}/commands`, { body });
      expect([answer.status, errorOf(answer).code, errorOf(answer).path]).toEqual([
        400,
        "ANT_CONTRACT_INVALID",
        path,
      ]);
    }
    expect((await world.call("GET", "/sessions/ses_nobody/events")).status).toBe(404);
    expect(await world.stored()).toBe(stored);
  });
});

/** An entry that belongs to no command. */
function elsewhere(sessionId: string, sequence: number): SessionEntry {
  const event: SessionEvent = {
    sequence,
    eventId: `${sessionId}-${sequence}`,
    at: "2026-01-01T00:00:00.000Z",
    correlation: { sessionId },
    event: "SessionStatusChanged",
    payload: { sessionId, status: "open" },
  };
  return { v: 1, event, command: null };
}
