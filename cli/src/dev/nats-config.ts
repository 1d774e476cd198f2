// The configuration of the embedded nats-server. Pure.
import { accountsConfig, type PublicKeys } from "@antiphon/contracts/principals/nats-accounts";

export interface NatsOptions {
  readonly storeDir: string;
  /** 0: the server picks a free port and writes it to a file in `portsDir`. */
  readonly port: number;
  readonly portsDir: string;
  readonly pidFile: string;
  /** The public keys of the NATS users. A connection without credentials is the operator, who may only read. */
  readonly keys: PublicKeys;
  /** The journal's partitions. */
  readonly partitions: number;
}

export function natsConfig(options: NatsOptions): string {
  const address = (port: number): string => `"127.0.0.1:${port === 0 ? -1 : port}"`;
  return `# Written by "antiphon dev" at each start; changes here are lost.
server_name: antiphon-dev
listen: ${address(options.port)}
pid_file: ${JSON.stringify(options.pidFile)}
ports_file_dir: ${JSON.stringify(options.portsDir)}
max_payload: 8MB
write_deadline: "10s"
lame_duck_duration: "30s"
jetstream {
  store_dir: ${JSON.stringify(options.storeDir)}
  # An acknowledged record is on disk, not only in the page cache.
  sync_interval: always
  max_memory_store: 256MB
  max_file_store: 16GB
}
# A user for each service. On this machine, a connection without credentials may read.
${accountsConfig({ keys: options.keys, partitions: options.partitions, anonymous: "operator" })}`;
}
