// The configuration of the embedded nats-server. Pure.

export interface NatsOptions {
  readonly storeDir: string;
  /** 0: the server picks a free port and writes it to a file in `portsDir`. */
  readonly port: number;
  readonly portsDir: string;
  readonly pidFile: string;
}

/**
 * Connections without credentials get this user, so its password protects nothing. It must be plain text: for
 * `no_auth_user` the server checks the configured password against itself, and a hash would not match.
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
  # An acknowledged record is on disk, not only in the page cache.
  sync_interval: always
  max_memory_store: 256MB
  max_file_store: 16GB
}
# Services ask this service whether the server fsyncs before it acknowledges; the system account has no users.
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
