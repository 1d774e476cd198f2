/** The peers that are durable execution engines: DBOS over PostgreSQL, Restate over its own server. */
import { Agent, request } from "node:http";
import { PAYLOAD, type Contender, type Kind } from "./contender.ts";
import { peerPackage, peerVersion } from "./install.ts";
import { end, worker } from "./queues.ts";
import { freePort, restateServer } from "./servers.ts";

interface Dbos {
  setConfig(config: object): void;
  launch(): Promise<void>;
  shutdown(): Promise<void>;
  registerWorkflow<A extends unknown[]>(
    body: (...args: A) => Promise<number>,
    config: { name: string },
  ): (...args: A) => Promise<number>;
  runStep<T>(body: () => Promise<T>, config: { name: string }): Promise<T>;
}

export async function dbos(url: string): Promise<Contender> {
  const { DBOS } = peerPackage<{ DBOS: Dbos }>("@dbos-inc/dbos-sdk");
  DBOS.setConfig({
    name: "peer",
    systemDatabaseUrl: url,
    databaseUrl: url,
    systemDatabasePoolSize: 40,
    sysDbPoolSize: 40,
    logLevel: "error",
    runAdminServer: false,
  });
  const workflow = DBOS.registerWorkflow(
    async (steps: number, _payload: unknown): Promise<number> => {
      let done = 0;
      for (let i = 0; i < steps; i += 1)
        done += await DBOS.runStep(() => Promise.resolve(1), { name: `step-${i + 1}` });
      return done;
    },
    { name: "peer" },
  );
  await DBOS.launch();
  return {
    name: `DBOS ${peerVersion("@dbos-inc/dbos-sdk")}`,
    setting:
      "PostgreSQL, fsync and synchronous_commit on; 40 connections; workflows run in the client, as is its way",
    async one(kind: Kind) {
      const steps = kind === "job" ? 1 : 5;
      if ((await workflow(steps, PAYLOAD)) !== steps) throw new Error("a workflow of DBOS lost a step");
    },
    stop: () => DBOS.shutdown(),
  };
}

export async function restate(): Promise<Contender> {
  const server = await restateServer();
  const port = await freePort();
  const child = await worker("restate", String(port));
  const agent = new Agent({ keepAlive: true, maxSockets: 512 });
  const post = (to: number, path: string, body: unknown): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json" };
      const asked = request(
        { port: to, host: "127.0.0.1", path, method: "POST", agent, headers },
        (answer) => {
          let said = "";
          answer.on("data", (data: Buffer) => (said += data.toString()));
          answer.once("end", () => {
            if ((answer.statusCode ?? 500) < 300) resolve();
            else reject(new Error(`Restate: ${path}: ${answer.statusCode} ${said.slice(0, 300)}`));
          });
        },
      );
      asked.once("error", reject);
      asked.end(JSON.stringify(body));
    });
  await post(server.admin, "/deployments", { uri: `http://127.0.0.1:${port}` });
  return {
    name: `Restate ${peerVersion("@restatedev/restate-server")}`,
    setting: "one node, its defaults (the log server syncs its write-ahead log); steps are ctx.run",
    one: (kind: Kind) => post(server.port, `/peer/${kind}`, PAYLOAD),
    async stop() {
      agent.destroy();
      await end(child);
      await server.stop();
    },
  };
}
