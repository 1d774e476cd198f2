// The nats-server of `antiphon dev`: its binary, its config and its port.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { childEnvironment } from "../config.ts";
import type { CliConfig } from "../config.ts";
import { Failure } from "../failure.ts";
import { makeUsers, seedFile } from "../nats/nats-users.ts";
import { withheldFrom } from "./withheld.ts";
import { findNatsServer, MIN_NATS } from "./nats-binary.ts";
import type { ChildSpec } from "./child.ts";
import { greeting } from "./loopback-port.ts";
import { natsConfig } from "./nats-config.ts";

// cli/C2: nats-server does not watch its stdin, so a shell around it does and ends it when our pipe closes.
// Its file 3 is the lock of the state directory, which the server keeps open (state-lock.ts).
const GUARD = `
exec 4<&0
"$@" </dev/null &
server=$!
( read _ <&4; kill -TERM $server ) 2>/dev/null &
watcher=$!
trap 'kill -TERM $server 2>/dev/null' TERM
wait $server
code=$?
while kill -0 $server 2>/dev/null; do wait $server; code=$?; done
kill $watcher 2>/dev/null
exit $code
`;

export class EmbeddedNats {
  readonly #config: CliConfig;
  readonly storeDir: string;
  /** Config, pid and port files; removed by a clean stop. */
  readonly #runDir: string;
  /** The seeds of the NATS users; kept over restarts. */
  readonly #usersDir: string;

  constructor(config: CliConfig, dir: string) {
    this.#config = config;
    this.storeDir = join(dir, "nats");
    this.#runDir = join(dir, "run");
    this.#usersDir = join(dir, "nats-users");
  }

  /** Finds the binary and writes the config. Port 0 picks a free one. */
  prepare(port: number, graceMs: number): ChildSpec {
    const binary = findNatsServer(this.#config);
    if (binary.kind === "missing") throw new Failure("ANT_NATS_BINARY_MISSING", "no nats-server was found");
    if (binary.kind === "too_old") {
      const message = `nats-server ${binary.version} at ${binary.path} is older than ${MIN_NATS.join(".")}`;
      throw new Failure("ANT_NATS_TOO_OLD", message);
    }
    this.cleanUp();
    mkdirSync(this.#runDir, { recursive: true });
    this.keepPort(port);
    return {
      name: "nats-server",
      command: "/bin/sh",
      args: ["-c", GUARD, "nats-guard", binary.path, "--config", join(this.#runDir, "nats.conf")],
      env: childEnvironment(withheldFrom("nats-server")),
      signalGroup: false,
      graceMs,
    };
  }

  /** Fixes the port in the config, so that a restarted server comes back where the services expect it. */
  keepPort(port: number): void {
    const text = natsConfig({
      storeDir: this.storeDir,
      port,
      portsDir: this.#runDir,
      pidFile: join(this.#runDir, "nats.pid"),
      keys: makeUsers(this.#usersDir).keys,
      partitions: Math.max(this.#config.partitions, this.#storedPartitions()),
    });
    writeFileSync(join(this.#runDir, "nats.conf"), text);
  }

  /** Read from `<binary>_<pid>.ports`, which the server writes at its start. Null: not written yet. */
  portInUse(): number | null {
    const file = readdirSync(this.#runDir).find((name) => name.endsWith(".ports"));
    if (file === undefined || !existsSync(join(this.#runDir, "nats.pid"))) return null;
    const text = readFileSync(join(this.#runDir, file), "utf8");
    if (!text.trimEnd().endsWith("}")) return null; // Half written.
    const { nats } = JSON.parse(text) as { nats?: string[] };
    return Number(/:(\d+)$/.exec(nats?.[0] ?? "")?.[1] ?? 0);
  }

  /** The number of partitions of a journal in the store; 0 if there is none. */
  #storedPartitions(): number {
    const streams = join(this.storeDir, "jetstream/ANTIPHON/streams");
    if (!existsSync(streams)) return 0;
    return readdirSync(streams).filter((name) => name.startsWith("ANT_JOURNAL_")).length;
  }

  /** The file with which a service connects. */
  credentials(role: string): string {
    return seedFile(this.#usersDir, role);
  }

  /** The pid of nats-server itself; the supervisor's child is the shell around it. */
  pid(): number {
    return Number(readFileSync(join(this.#runDir, "nats.pid"), "utf8").trim());
  }

  async answers(port: number): Promise<boolean> {
    return (await greeting(port, 500))?.startsWith("INFO ") === true;
  }

  cleanUp(): void {
    rmSync(this.#runDir, { recursive: true, force: true });
  }
}
