// The configuration of the embedded nats-server. Pure.

export interface NatsOptions {
  readonly storeDir: string;
  /** 0: the server picks a free one and writes it to a file in `portsDir`. */
  readonly port: number;
  readonly portsDir: string;
  readonly pidFile: string;
}

/** Whoever connects without credentials is this user. The hash is of no password: nobody can be it any other way. */
const NOBODY = { user: "antiphon", hash: "$2a$11$r8FAeR8bkBiTY7B53D70pr7aHQ4xxhAriQQWRkXW8EoK1hXPths0E" };

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
# Services ask here whether the server fsyncs before it acknowledges; they may ask the system account nothing else.
accounts {
  SYS { exports: [ { service: "$SYS.REQ.SERVER.PING.JSZ" } ] }
  ANTIPHON {
    jetstream: enabled
    users: [ { user: ${NOBODY.user}, password: ${JSON.stringify(NOBODY.hash)} } ]
    imports: [ { service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.JSZ" } } ]
  }
}
system_account: SYS
no_auth_user: ${NOBODY.user}
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
