/** The worker process of a peer: `worker.ts <bullmq|pg-boss|restate> <port or url>`. Its jobs do nothing. */
import { peerPackage } from "./install.ts";
import { PAYLOAD } from "./contender.ts";
import { QUEUE, openPgBoss } from "./queues.ts";

const [kind = "", target = ""] = process.argv.slice(2);

interface RestateSdk {
  service(definition: object): object;
  endpoint(): { bind(service: object): { listen(port: number): Promise<number> } };
}
interface RestateContext {
  run<T>(name: string, body: () => Promise<T>): Promise<T>;
}

const starts: Record<string, () => Promise<unknown>> = {
  bullmq() {
    interface Bull {
      Worker: new (
        queue: string,
        work: () => Promise<number>,
        options: object,
      ) => { waitUntilReady(): Promise<unknown> };
    }
    const { Worker } = peerPackage<Bull>("bullmq");
    const connection = { host: "127.0.0.1", port: Number(target), maxRetriesPerRequest: null };
    return new Worker(QUEUE, () => Promise.resolve(1), { connection, concurrency: 256 }).waitUntilReady();
  },
  async "pg-boss"() {
    const boss = openPgBoss(target);
    await boss.start();
    for (let i = 0; i < 8; i += 1) {
      await boss.work(QUEUE, { batchSize: 64, pollingIntervalSeconds: 0.5 }, async (jobs) => {
        const further = jobs.filter(({ data }) => data.step < 5);
        await Promise.all(
          further.map(({ data }) => boss.send(QUEUE, { ...PAYLOAD, step: data.step + 1, root: data.root })),
        );
        // In its favour: a job is reported just before its completion is stored.
        process.send?.(jobs.filter(({ data }) => data.step >= 5).map(({ data }) => data.root));
      });
    }
  },
  async restate() {
    const sdk = peerPackage<RestateSdk>("@restatedev/restate-sdk");
    const steps = async (ctx: RestateContext, count: number): Promise<number> => {
      for (let i = 0; i < count; i += 1) await ctx.run(`step-${i + 1}`, () => Promise.resolve(1));
      return count;
    };
    const service = sdk.service({
      name: "peer",
      handlers: {
        job: (ctx: RestateContext) => steps(ctx, 1),
        flow: (ctx: RestateContext) => steps(ctx, 5),
      },
    });
    await sdk.endpoint().bind(service).listen(Number(target));
  },
};

const start = starts[kind];
if (start === undefined) throw new Error(`no worker of ${kind}`);
await start();
process.send?.("ready");
