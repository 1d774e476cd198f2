/** associate/A8 with the NATS users of a deployment: Associates hear each other, and learn from the server that one is gone. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { answersProbes, subjects } from "@antiphon/contracts";
import { createLogger, probe, provision, systemClock, type Bus } from "@antiphon/runtime";
import { attemptKey, Holders } from "../../../services/associate/src/claim/holders.ts";
import { startProvisioned, type UsersServer } from "../../support/nats-users.ts";

const log = createLogger("test", { level: "silent" });
const attempt = { runId: "run_a", taskId: "T-001", epoch: 1 };
const { signal } = new AbortController();

let server: UsersServer;
let director: Bus;
let holder: Bus;
let asker: Holders;

const open = (bus: Bus, working: ReadonlySet<string> = new Set()): Promise<Holders> =>
  Holders.open({ bus, clock: systemClock, working, log, signal });

beforeAll(async () => {
  server = await startProvisioned();
  director = await server.bus("director");
  await provision(director, { probedLeases: true });
  holder = await server.bus("associate");
  asker = await open(await server.bus("associate"));
});

afterAll(() => server.close());

it("associate/A8: a holder says whether it works on an attempt, and the server says that it is gone", async () => {
  const working = new Set([attemptKey(attempt)]);
  const { incarnation } = await open(holder, working);
  expect(answersProbes(incarnation)).toBe(true);
  const claim = { associate: "as_1", incarnation };
  expect(await asker.look(claim, attempt, signal)).toBe("working");
  expect(await asker.look(claim, { ...attempt, epoch: 2 }, signal)).toBe("ended");
  await holder.close();
  const gone = ["gone", "silent"]; // The latter if this test's own connection is younger than its patience.
  expect(gone).toContain(await asker.look(claim, attempt, signal));
});

/** An attempt under way in a process that the question finds busy for longer than the asker's patience; so the asker, too. */
class Stalling extends Set<string> {
  override has(key: string): boolean {
    const isWorking = super.has(key);
    for (const until = performance.now() + 3500; isWorking && performance.now() < until;);
    return isWorking;
  }
}

it("associate/A8: an asker that was stalled until its patience was over does not take the holder for silent", async () => {
  const bus = await server.bus("associate");
  const { incarnation } = await open(bus, new Stalling([attemptKey(attempt)]));
  const claim = { associate: "as_1", incarnation };
  expect(["unknown", "working"]).toContain(await asker.look(claim, attempt, signal));
});

it("associate/A8: nobody but an Associate may listen for a holder or ask one", async () => {
  const subject = subjects.attemptHolder(asker.incarnation);
  expect((await probe(director, subject, attempt, 500)).kind).toBe("forbidden");
  expect(answersProbes((await open(director)).incarnation)).toBe(false);
});

it("associate/A8: an incarnation that would widen the question is not asked", async () => {
  for (const incarnation of ["live_*", "live_>", "live_a.b", "live_", "*"]) {
    expect(await asker.look({ associate: "as_1", incarnation }, attempt, signal)).toBe("unknown");
  }
});

it("associate/A8: a holder keeps its attempt when the server's wait becomes longer between two looks", async () => {
  const { incarnation } = await open(await server.bus("associate"), new Set([attemptKey(attempt)]));
  await provision(director, { probedLeases: false });
  expect(await asker.look({ associate: "as_1", incarnation }, attempt, signal)).toBe("working");
  await provision(director, { probedLeases: true });
});

it("associate/A8: where the server waits for the whole lease, a dispatch that came again has no holder that cannot be asked", async () => {
  await provision(director, { probedLeases: false });
  const claim = { associate: "as_1", incarnation: "0f2k4m6p8r0t2v4x6z8b" };
  expect(await asker.look(claim, attempt, signal)).toBe("silent");
  await provision(director);
  expect(await asker.look(claim, attempt, signal)).toBe("silent");
  await provision(director, { probedLeases: true });
  await provision(director); // A service without the setting keeps what another one has set.
  expect(await asker.look(claim, attempt, signal)).toBe("unknown");
});

it("associate/A8: nothing is known of a holder while the server does not say how long it waits", async () => {
  const stranger = await open(await server.bus("sandbox-runner"));
  const claim = { associate: "as_1", incarnation: "0f2k4m6p8r0t2v4x6z8b" };
  expect(await stranger.look(claim, attempt, signal)).toBe("unknown");
});
