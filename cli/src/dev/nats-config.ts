// The configuration of the embedded nats-server. Pure.

export interface NatsOptions {
  readonly storeDir: string;
  /** 0: the server picks a free one and writes it to a file in `portsDir`. */
  readonly port: number;
  readonly portsDir: string;
  readonly pidFile: string;
  /** 0 as above. Loopback only; services read the durability setting there. */
  readonly monitorPort: number;
}

export function natsConfig(options: NatsOptions): string {
  const address = (port: number): string => `"127.0.0.1:${port === 0 ? -1 : port}"`;
  return `# Written by "antiphon dev" at each start; changes here are lost.
server_name: antiphon-dev
listen: ${address(options.port)}
http: ${address(options.monitorPort)}
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
# Lets every client ask over NATS itself whether the server fsyncs before it acknowledges.
accounts {
  SYS: { users: [ { user: sys, password: sys } ], exports: [ { service: "$SYS.REQ.SERVER.PING.JSZ" } ] }
  ANTIPHON: {
    jetstream: enabled
    users: [ { user: antiphon, password: antiphon } ]
    imports: [ { service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.JSZ" } } ]
  }
}
system_account: SYS
no_auth_user: antiphon
`;
}
