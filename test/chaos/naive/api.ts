/** HTTP in front of the queue: the same paths as Antiphon's gateway, so that the same client can use it. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { openStore, type Work } from "./store.ts";

const [servers = "", port = "0"] = process.argv.slice(2);
const store = await openStore(servers, "naive-api");

const short = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 20);

type Answer = { status: number; body: Record<string, unknown> };

async function answer(request: IncomingMessage, text: string): Promise<Answer> {
  const [, noun, id = "", verb] = (request.url ?? "").split("/");
  if (request.method === "POST" && noun === "intents" && id === "") {
    const intentId = `it_${short(text)}`;
    await store.intents.put(intentId, JSON.parse(text));
    return { status: 201, body: { intentId } };
  }
  if (request.method === "POST" && verb === "run")
    return startRun(id, String(request.headers["idempotency-key"]));
  if (request.method === "POST" && verb === "events") return say(id, text);
  if (request.method === "GET" && noun === "runs") {
    const entry = await store.runs.get<{ status: string }>(id);
    return entry === null ? { status: 404, body: {} } : { status: 200, body: { runId: id, ...entry.value } };
  }
  return { status: 404, body: {} };
}

async function startRun(intentId: string, key: string): Promise<Answer> {
  const stored = await store.intents.get<Work["intent"]>(intentId);
  if (stored === null) return { status: 404, body: {} };
  const runId = `run_${short(key)}`;
  const work: Work = { runId, intentId, intent: stored.value };
  const sent = await store.js.publish(`naive.work.${runId}`, JSON.stringify(work), { msgID: runId });
  if (!sent.duplicate) await store.runs.create(runId, { status: "queued" });
  return { status: 202, body: { runId } };
}

async function say(runId: string, text: string): Promise<Answer> {
  const { event } = JSON.parse(text) as { event: string };
  const entry = await store.runs.get<{ status: string }>(runId);
  if (entry !== null && ["succeeded", "failed"].includes(entry.value.status))
    return { status: 409, body: {} };
  if (event === "cancel") {
    await store.audit({ type: "cancel", runId, taskId: null, epoch: 0, body: { by: "client", reason: "" } });
    await store.runs.put(runId, { status: "canceled" });
  }
  return { status: 202, body: { runId } };
}

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    void answer(request, Buffer.concat(parts).toString())
      .catch((error: unknown): Answer => ({ status: 503, body: { error: String(error) } }))
      .then(({ status, body }) => {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      });
  });
});
server.listen(Number(port), "127.0.0.1");
process.once("SIGTERM", () => process.exit(0));
