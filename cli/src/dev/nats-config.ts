// The configuration of the embedded nats-server. Pure.

export interface NatsOptions {
  readonly storeDir: string;
  /** 0: the server picks a free one and writes it to a file in `portsDir`. */
  readonly port: number;
  readonly portsDir: string;
  readonly pidFile: string;
}

/**
 * Whoever connects without credentials is this user, so its password keeps nothing. It cannot be the hash of none: the
 * server compares what stands here with itself.
 */
const ANYBODY = "antiphon";

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
  # An acknowledged record is on the disk, not in a page cache.
  sync_interval: always
  max_memory_store: 256MB
  max_file_store: 16GB
}
# Services ask here whether the server fsyncs before it acknowledges; nobody is a user of the system account.
accounts {
  SYS { exports: [ { service: "$SYS.REQ.SERVER.PING.JSZ" } ] }
  ANTIPHON {
    jetstream: enabled
    users: [ { user: ${ANYBODY}, password: ${ANYBODY} } ]
    imports: [ { service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.JSZ" } } ]
  }
}
system_account: SYS
no_auth_user: ${ANYBODY}
`;
}
