/** A real nats-server with a user for each principal, and connections with their credentials. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nkeyAuthenticator } from "@nats-io/nats-core";
import { connect, type NatsConnection } from "nats";
import { PRINCIPALS, type Principal } from "../../contracts/src/principals/principals.ts";
import { accountsConfig } from "../../contracts/src/principals/nats-accounts.ts";
import { makeUsers, seedFile } from "../../cli/src/nats/nats-users.ts";
import { connectBus, createLogger, provision, unsafeTrust, type Bus } from "../../runtime/src/index.ts";
import { endOf, launch, onFreePorts } from "./nats.ts";

export interface UsersServer {
  readonly url: string;
  readonly dir: string;
  /** A bare client with the credentials of a principal. */
  client(principal: Principal): Promise<NatsConnection>;
  /** A service's connection with the credentials of a principal. */
  bus(principal: Principal): Promise<Bus>;
  /** The file for ANTIPHON_NATS_CREDS. */
  creds(principal: Principal): string;
  close(): Promise<void>;
}

export async function startNatsWithUsers({ partitions = 1 } = {}): Promise<UsersServer> {
  const dir = mkdtempSync(join(tmpdir(), "antiphon-users-"));
  const users = join(dir, "users");
  const { keys } = makeUsers(users);
  const configFile = join(dir, "nats.conf");
  const [child, [port = 0]] = await onFreePorts(1, ([own = 0]) => {
    writeFileSync(
      configFile,
      `listen: "127.0.0.1:${own}"
server_name: users
max_payload: 8MB
jetstream { store_dir: ${JSON.stringify(join(dir, "store"))}, sync_interval: always }
${accountsConfig({ keys, partitions })}`,
    );
    return launch(configFile, own);
  });
  const onExit = (): void => void child.kill("SIGKILL");
  process.once("exit", onExit);
  const url = `nats://127.0.0.1:${port}`;
  const clients = new Set<NatsConnection>();
  const buses = new Set<Bus>();
  const seed = (principal: Principal): Uint8Array =>
    Buffer.from(readFileSync(seedFile(users, principal), "utf8").trim());
  const server: UsersServer = {
    url,
    dir,
    creds: (principal) => seedFile(users, principal),
    async client(principal) {
      const client = await connect({ servers: url, authenticator: nkeyAuthenticator(seed(principal)) });
      clients.add(client);
      return client;
    },
    async bus(principal) {
      const bus = await connectBus({
        servers: url,
        name: principal,
        log: createLogger("test", { level: "silent" }),
        trust: unsafeTrust,
        user: { principal, seed: seed(principal) },
      });
      buses.add(bus);
      return bus;
    },
    async close() {
      await Promise.all([...clients].map((client) => client.close()));
      await Promise.all([...buses].map((bus) => bus.close()));
      await endOf(child, "SIGKILL");
      process.off("exit", onExit);
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return server;
}

/** All principals with limits. */
export const LIMITED = PRINCIPALS.filter((principal) => principal !== "admin");

/** A server whose streams a Director has provisioned. */
export async function startProvisioned(options: { partitions?: number } = {}): Promise<UsersServer> {
  const server = await startNatsWithUsers(options);
  await provision(await server.bus("director"), options.partitions === undefined ? {} : options);
  return server;
}
