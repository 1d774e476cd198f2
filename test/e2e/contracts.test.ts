/**
 * Checks the services' real messages against the contracts with the strict reader: every record of the
 * journal and every document in the buckets, after runs that land, are rejected and ask a question.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  BUCKETS,
  parseJournalSubject,
  validate,
  validateDocument,
  type SchemaName,
  type StoredRecord,
} from "@antiphon/contracts";
import { connectBus, createLogger, openJournal, openKv, unsafeTrust, type Bus } from "@antiphon/runtime";
import { BREAK, BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { eventually } from "./support/program.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

let stack: Stack;
let bus: Bus;
const projects: Project[] = [];

beforeAll(async () => {
  stack = await startQuickStack();
  bus = await connectBus({
    servers: stack.ready.nats,
    name: "contracts-test",
    log: createLogger("test"),
    trust: unsafeTrust,
  });
});
afterAll(async () => {
  await bus.close();
  for (const project of projects) project.remove();
  await stack.stop();
});

/** Starts a run over HTTP on a fresh project; returns its id. */
async function begin(agent: object, constraints: object = {}): Promise<string> {
  const project = makeProject(BROKEN_CALCULATOR);
  projects.push(project);
  const inputs = { repo: project.path, agent, checks: [CHECK] };
  const intent = await stack.http("POST", "/intents", { goal: "Fix the broken add", inputs, constraints });
  const started = await stack.http("POST", `/intents/${String(intent.body["intentId"])}/run`);
  expect(started.status, JSON.stringify(started.body)).toBe(202);
  return String(started.body["runId"]);
}

const statusIs = (runId: string, wanted: readonly string[]) =>
  eventually(`${runId} is ${wanted.join(" or ")}`, async () => {
    const { body } = await stack.http("GET", `/runs/${runId}`);
    return wanted.includes(String(body["status"])) ? body : null;
  });

function problemsOf(name: SchemaName, value: unknown, where: string): string[] {
  const result = validate(name, value);
  return result.ok
    ? []
    : result.errors.map(({ path, message }) => `${where} is no ${name}: ${path}: ${message}`);
}

/** A record as it was written, without the fields added by reading. */
function written(record: StoredRecord): unknown {
  const {
    seq: _seq,
    digest: _digest,
    at: _at,
    subject: _subject,
    signature: _signature,
    after: _after,
    ...envelope
  } = record;
  return envelope;
}

function schemaOfKey(bucket: string, key: string): SchemaName | null {
  if (bucket === BUCKETS.runs) return "RunViewModel";
  if (bucket === BUCKETS.contracts) return key.endsWith(".router") ? "RouterContract" : "TaskContract";
  return bucket === BUCKETS.evidence ? "EvidenceManifest" : null;
}

test("every record and every document that the services write conforms to its contract", async () => {
  const lands = await begin({ kind: "scripted", commands: [FIX] });
  const rejected = await begin({ kind: "scripted", commands: [BREAK], claim: "ok" }, { max_attempts: 2 });
  const asks = await begin({ kind: "scripted", ask: "Which operator?", commands: [FIX] });
  await statusIs(asks, ["waiting_input"]);
  const answer = await stack.http("POST", `/runs/${asks}/events`, { event: "answer", answers: ["plus"] });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  const final = ["succeeded", "failed", "canceled"];
  for (const runId of [lands, rejected, asks]) await statusIs(runId, final);

  const journal = openJournal(bus, { log: createLogger("test") });
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const runId of [lands, rejected, asks]) {
    for (const record of await journal.read(runId)) {
      seen.add(record.type);
      problems.push(...problemsOf(`journal.${record.type}`, written(record), record.subject));
      expect(parseJournalSubject(record.subject)).toMatchObject({ type: record.type, runId });
    }
  }
  const documents: Record<string, number> = {};
  for (const bucket of [BUCKETS.runs, BUCKETS.contracts, BUCKETS.evidence]) {
    const kv = openKv(bus, bucket);
    for (const key of await kv.keys()) {
      const entry = await kv.get(key);
      const name = schemaOfKey(bucket, key);
      if (entry === null || name === null) continue;
      documents[name] = (documents[name] ?? 0) + 1;
      problems.push(...problemsOf(name, entry.value, `${bucket} ${key}`));
      if (name === "RunViewModel") {
        const { steps, artifacts } = entry.value as { steps: unknown[]; artifacts: unknown[] };
        for (const step of steps) problems.push(...problemsOf("RunStep", step, `${key} steps`));
        for (const artifact of artifacts)
          problems.push(...problemsOf("RunArtifact", artifact, `${key} artifacts`));
      }
    }
  }
  expect(problems).toEqual([]);
  expect([...seen].sort()).toEqual(
    ["claim", "closed", "dispatch", "input", "intent", "landing", "result", "routed", "verdict"].sort(),
  );
  expect(Object.keys(documents).sort()).toEqual([
    "EvidenceManifest",
    "RouterContract",
    "RunViewModel",
    "TaskContract",
  ]);
});

test("the CLI names the line, the path and the intended key in a hand-written file", async () => {
  const text = "id: T-001\nobjektive: Fix it\n";
  const { code, stdout, stderr } = await stack.antiphon(["validate", "-", "--schema", "TaskContract"], {
    stdin: text,
  });
  expect(code).toBe(2);
  expect(`${stdout}${stderr}`).toMatch(
    /:2:1: \/objektive: unknown key `objektive`.*did you mean `objective`/s,
  );
  expect(validateDocument(text, { filename: "-", schema: "TaskContract" }).ok).toBe(false);
});
