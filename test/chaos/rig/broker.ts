/** The server under test: one nats-server or a cluster, for the injector and the processes. */
import type { Bus, BusOptions } from "@antiphon/runtime";
import { startNats, type NatsServerOptions } from "../../support/nats.ts";

/** Which members of a cluster are hit; a single server is always the one. */
export const STRIKES = ["leader", "random", "majority"] as const;
export type Strike = (typeof STRIKES)[number];

export interface Broker {
  /** All members, comma separated. */
  readonly url: string;
  readonly ports: readonly number[];
  readonly dirs: readonly string[];
  /** Copies of each stream. */
  readonly replicas: number;
  pids(): number[];
  connect(options?: Partial<BusOptions>): Promise<Bus>;
  /** Kills the servers that the strike selects, and starts them again after `forMs`. */
  strike(strike: Strike, forMs: number): Promise<void>;
  /** Starts missing servers again, because Ctrl-C ends the servers too. */
  revive(): Promise<void>;
  close(): Promise<void>;
}

export async function singleBroker(options: NatsServerOptions = {}): Promise<Broker> {
  const server = await startNats(options);
  return {
    url: server.url,
    ports: [server.port],
    dirs: [options.storeDir ?? server.dir],
    replicas: 1,
    pids: () => [server.pid()],
    connect: (overrides) => server.connect(overrides),
    async strike(_strike, forMs) {
      await server.kill();
      await new Promise((resolve) => setTimeout(resolve, forMs));
      await server.restart();
    },
    revive: async () => {
      if (!server.running()) await server.restart();
    },
    close: () => server.close({ checkLeaks: false }),
  };
}
