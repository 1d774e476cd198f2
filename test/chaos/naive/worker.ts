/** Takes a run off the queue, does its tasks one after the other, lands each, acknowledges at the end. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JournalType } from "@antiphon/contracts";
import type { JsMsg } from "@nats-io/jetstream";
import { openStore, WORK, type Work } from "./store.ts";

const [servers = "", name = "worker"] = process.argv.slice(2);
const store = await openStore(process.env["ANTIPHON_NATS_URL"] ?? servers, name);

interface Task {
  readonly id: string;
  readonly patch: string | null;
}

function tasksOf({ intent }: Work): Task[] {
  type Agent = { patch?: { files: { diff: string }[] } };
  const own = intent.inputs["agent"] as Agent;
  const given = (intent.inputs["tasks"] as { id: number; agent: Agent }[] | undefined) ?? [
    { id: 1, agent: own },
  ];
  return given.map(({ id, agent }) => ({
    id: `T-${String(id).padStart(3, "0")}`,
    patch: agent.patch?.files.map(({ diff }) => diff).join("") ?? null,
  }));
}

async function work(message: JsMsg): Promise<void> {
  const job = message.json<Work>();
  const epoch = message.info.deliveryCount;
  const { runId } = job;
  const say = (type: JournalType, taskId: string | null, body: unknown, at = epoch): Promise<void> =>
    store.audit({ type, runId, taskId, epoch: at, body });
  const status = (await store.runs.get<{ status: string }>(runId))?.value.status;
  if (status === "succeeded" || status === "failed") return message.ack(); // Done already: a redelivery.
  const repo = String(job.intent.inputs["repo"]);
  const base = git(repo, ["rev-parse", "HEAD"]).trim();
  const intent = { intentId: job.intentId, base: { commit: base }, options: { max_attempts: 3 } };
  await say("intent", null, intent, 0);
  if (status === "canceled") {
    await say("closed", null, { status: "canceled", code: null }, 0);
    return message.ack();
  }
  await store.runs.put(runId, { status: "running" });
  let end = "succeeded";
  for (const task of tasksOf(job)) {
    await say("dispatch", task.id, { base: { commit: base } });
    await say("claim", task.id, { associate: name, incarnation: name });
    await new Promise((resolve) => setTimeout(resolve, 30)); // Simulates the work.
    const built = build(repo, base, runId, task, epoch);
    if (built === null) {
      end = "failed";
      break;
    }
    await say("verdict", task.id, {
      verdict: "PASS",
      commit: built.commit,
      head: built.parent,
      evidence: null,
    });
    if (built.commit === null) continue;
    const ref = `refs/heads/antiphon/${runId}`;
    git(repo, ["update-ref", ref, built.commit]);
    await say("landing", task.id, { kind: "landed", ref, commit: built.commit, previous: null });
  }
  await store.runs.put(runId, { status: end });
  await say("closed", null, { status: end, code: end === "failed" ? "ANT_PATCH_DOES_NOT_APPLY" : null }, 0);
  message.ack();
}

/** Null: the patch does not apply. */
function build(
  repo: string,
  base: string,
  runId: string,
  task: Task,
  epoch: number,
): { commit: string | null; parent: string } | null {
  const branch = `refs/heads/antiphon/${runId}`;
  const parent = git(repo, ["for-each-ref", "--format=%(objectname)", branch]).trim() || base;
  if (task.patch === null) return { commit: null, parent };
  const dir = mkdtempSync(join(tmpdir(), "naive-"));
  const env = { GIT_INDEX_FILE: join(dir, "index") };
  try {
    git(repo, ["read-tree", parent], env);
    const onTop = git(repo, ["ls-files"], env);
    const again = /\+\+\+ b\/(.+)/.exec(task.patch)?.[1] ?? "";
    // A redelivery repeats work that is done already, as work without stored progress does.
    if (!onTop.split("\n").includes(again)) git(repo, ["apply", "--cached"], env, task.patch);
    const tree = git(repo, ["write-tree"], env).trim();
    const trailers = `Antiphon-Run: ${runId}\nAntiphon-Task: ${task.id}\nAntiphon-Epoch: ${epoch}`;
    return {
      commit: git(repo, ["commit-tree", tree, "-p", parent, "-m", `${task.id}\n\n${trailers}`]).trim(),
      parent,
    };
  } catch {
    return null;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function git(
  repo: string,
  args: readonly string[],
  env: Record<string, string> = {},
  input?: string,
): string {
  const identity = {
    GIT_AUTHOR_NAME: "n",
    GIT_AUTHOR_EMAIL: "n@n",
    GIT_COMMITTER_NAME: "n",
    GIT_COMMITTER_EMAIL: "n@n",
  };
  return execFileSync("git", ["-C", repo, ...args], {
    encoding: "utf8",
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, ...identity, ...env },
    ...(input === undefined ? {} : { input }),
  });
}

process.once("SIGTERM", () => process.exit(0));
const consumer = await store.js.consumers.get(WORK, "workers");
const messages = await consumer.consume();
for await (const message of messages) {
  await work(message).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    message.nak(500);
  });
}
