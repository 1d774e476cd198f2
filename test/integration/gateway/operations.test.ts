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
  const asked = performance.now();
  const { status, body } = await world.call("GET", "/agents");
  expect(status).toBe(200);
  expect(performance.now() - asked, "a person waits for it").toBeLessThan(8_000);
  const agents = body["agents"] as { name: string; state: string }[];
  expect(agents.find(({ name }) => name === "codex")).toMatchObject({ state: "unknown" });
});

describe("an agent pack", () => {
  it("is given as an intent takes it, with its own files and the chosen model", async () => {
    const { status, body } = await world.call("GET", "/agents/model?model=big-1");
    expect(status).toBe(200);
    const agent = body["agent"] as { install: string[]; argv: string[]; env: object };
    expect(agent.install.join("\n")).toMatch(/base64 -d \| gzip -d > lib\//);
    expect(JSON.stringify([agent.argv, agent.env])).toContain("big-1");
    const repo = makeRepo({ files: { "a.txt": "1\n" } }).path;
    const intent = intentFor(repo) as { inputs: object };
    const accepted = await world.call("POST", "/intents", {
      body: { ...intent, inputs: { ...intent.inputs, agent } },
    });
    expect(accepted.status).toBe(201);
  });

  it.each(["none", "..%2fmodel", "%2e%2e%2f%2e%2e%2fetc", "toString"])(
    "that the folders do not list is refused, also if it names a place: %s",
    async (name) => {
      const { status, body } = await world.call("GET", `/agents/${name}`);
      expect([status, body["code"]]).toEqual([422, "ANT_AGENT_UNKNOWN"]);
    },
  );

  it("with a model whose name is none is refused", async () => {
    const { status, body } = await world.call("GET", `/agents/model?model=${encodeURIComponent("a b\n")}`);
    expect([status, body["code"]]).toEqual([400, "ANT_CONTRACT_INVALID"]);
  });
});
