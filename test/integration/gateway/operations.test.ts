/** What whoever is on call reads over HTTP: the queues by the server's counts, and the agents. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { intentFor, openWorld, type World } from "./gateway-world.ts";

const SHIPPED = new URL("../../../agents", import.meta.url).pathname;
let world: World;
beforeAll(async () => {
  world = await openWorld({ packFolders: [SHIPPED] });
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

interface Queues {
  readonly consumers: { readonly name: string; readonly waiting: number; readonly inFlight: number }[];
}

describe("the queues", () => {
  it("tell what waits for each service, and how many Directors told what they hold back", async () => {
    const waitingFor = ({ consumers }: Queues) => consumers.find(({ name }) => name === "router")?.waiting;
    const before = (await world.call("GET", "/queues")).body as unknown as Queues;
    expect(waitingFor(before)).toBe(0);
    const repo = makeRepo({ files: { "a.txt": "1\n" } }).path;
    const { body } = await world.call("POST", "/intents", { body: intentFor(repo) });
    await world.call("POST", `/intents/${String(body["intentId"])}/run`);
    const after = await world.call("GET", "/queues");
    expect(after.body).toMatchObject({ openRuns: 1, deadLetters: 0, held: [], directors: 1 });
    expect(waitingFor(after.body as unknown as Queues), "there is no Router in this world").toBe(1);
    expect((after.body as unknown as Queues).consumers.map(({ name }) => name)).not.toContain("tally-intent");
  });
});

it("the agents are those of the folders, and without an egress gateway their state is unknown", async () => {
  const { status, body } = await world.call("GET", "/agents");
  expect(status).toBe(200);
  const agents = body["agents"] as { name: string; state: string }[];
  expect(agents.find(({ name }) => name === "codex")).toMatchObject({ state: "unknown" });
});
