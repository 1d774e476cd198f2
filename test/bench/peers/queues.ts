/** The peers that are queues: BullMQ over Redis, pg-boss over PostgreSQL. Their workers are processes of their own. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Answers, PAYLOAD, type Contender, type Kind } from "./contender.ts";
import { peerPackage, peerVersion } from "./install.ts";
import { endsWithUs, redisServer } from "./servers.ts";

export async function worker(kind: "bullmq" | "pg-boss" | "restate", target: string): Promise<ChildProcess> {
  const script = fileURLToPath(new URL("worker.ts", import.meta.url));
  const child = endsWithUs(fork(script, [kind, target], { stdio: ["ignore", "ignore", "pipe", "ipc"] }));
  let complaint = "";
  child.stderr?.on("data", (data: Buffer) => (complaint = (complaint + data.toString()).slice(0, 2000)));
  const [said] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() =>
      Promise.reject(new Error(`the worker of ${kind} ended: ${complaint.replaceAll("\n", " ")}`)),
    ),
  ])) as [unknown];
  if (said !== "ready") throw new Error(`the worker of ${kind} said ${String(said)}`);
  return child;
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

interface Flow {
  name: string;
  queueName: string;
  data: unknown;
  opts: object;
  children?: Flow[];
}

interface BullMq {
  Queue: new (
    name: string,
    options: object,
  ) => {
    add(name: string, data: unknown, options: object): Promise<{ id: string }>;
    close(): Promise<void>;
  };
  FlowProducer: new (options: object) => {
    add(flow: Flow): Promise<{ job: { id: string } }>;
    close(): Promise<void>;
  };
  QueueEvents: new (
    name: string,
    options: object,
  ) => {
    on(event: "completed", hear: (args: { jobId: string }) => void): void;
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  };
}

export const QUEUE = "peer";

export async function bullMq(fsync: "always" | "everysec"): Promise<Contender> {
  const { Queue, FlowProducer, QueueEvents } = peerPackage<BullMq>("bullmq");
  const server = await redisServer(fsync);
  const connection = { host: "127.0.0.1", port: server.port };
  const child = await worker("bullmq", String(server.port));
  const queue = new Queue(QUEUE, { connection });
  const flows = new FlowProducer({ connection });
  const events = new QueueEvents(QUEUE, { connection });
  const answers = new Answers();
  events.on("completed", ({ jobId }) => answers.came(jobId));
  await events.waitUntilReady();
  const opts = { removeOnComplete: 1000 };
  const step = (n: number): Flow => ({
    name: `step-${n}`,
    queueName: QUEUE,
    data: PAYLOAD,
    opts,
    ...(n > 1 ? { children: [step(n - 1)] } : {}),
  });
  return {
    name: `BullMQ ${peerVersion("bullmq")}, AOF ${fsync}`,
    setting: `Redis 7, appendfsync ${fsync}; worker concurrency 256; flow: five jobs, each a child of the next`,
    async one(kind: Kind) {
      const id =
        kind === "job" ? (await queue.add("job", PAYLOAD, opts)).id : (await flows.add(step(5))).job.id;
      await answers.of(id);
    },
    async stop() {
      await Promise.all([queue.close(), flows.close(), events.close()]);
      await end(child);
      await server.stop();
    },
  };
}

export interface PgBoss {
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  createQueue(name: string): Promise<unknown>;
  send(name: string, data: object): Promise<string | null>;
  work(
    name: string,
    options: object,
    handler: (jobs: { id: string; data: { step: number; root: string } }[]) => Promise<void>,
  ): Promise<string>;
}

export function openPgBoss(url: string): PgBoss {
  const loaded = peerPackage<{ default?: new (o: object) => PgBoss } | (new (o: object) => PgBoss)>(
    "pg-boss",
  );
  const Boss = typeof loaded === "function" ? loaded : loaded.default;
  if (Boss === undefined) throw new Error("pg-boss has no constructor");
  return new Boss({ connectionString: url, max: 20, supervise: false, schedule: false });
}

/** pg-boss does not announce completed jobs, so its worker, which completes them, reports them. */
export async function pgBoss(url: string): Promise<Contender> {
  const boss = openPgBoss(url);
  await boss.start();
  await boss.createQueue(QUEUE);
  const child = await worker("pg-boss", url);
  const answers = new Answers();
  child.on("message", (ids: string[]) => ids.forEach((id) => answers.came(id)));
  let count = 0;
  return {
    name: `pg-boss ${peerVersion("pg-boss")}`,
    setting: "PostgreSQL, fsync and synchronous_commit on; 8 pollers of 64 jobs every 0.5 s, its shortest",
    async one(kind: Kind) {
      const root = `r${(count += 1)}`;
      await boss.send(QUEUE, { ...PAYLOAD, step: kind === "job" ? 5 : 1, root });
      await answers.of(root);
    },
    async stop() {
      await end(child);
      await boss.stop({ graceful: false });
    },
  };
}
