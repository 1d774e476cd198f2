// `antiphon dev`: a nats-server and every service as child processes of this one. Every port is on loopback.
//
// Lifecycle: lock the state directory -> nats-server -> all services at once -> ready -> drain in order -> unlock.
// The services stop in the order of the table of roles, and the nats-server last.
//
// Promises:
//   cli/C2 Because a stop waits until every child has exited, and each child watches a stdin pipe that only the supervisor
//     holds, no child process outlives the supervisor, even if the supervisor is killed.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ERRORS, isErrorCode } from "@antiphon/contracts/errors";
import { authorization } from "../config.ts";
import { Failure } from "../failure.ts";
import type { CliConfig } from "../config.ts";
import { http } from "../gateway/http-exchange.ts";
import { SupervisedChild } from "./child.ts";
import type { ChildSpec } from "./child.ts";
import type { DevOptions } from "./dev-options.ts";
import { EmbeddedNats } from "./embedded-nats.ts";
import type { Report } from "./events.ts";
import { LogFile } from "./log-file.ts";
import { greeting, isFree } from "./loopback-port.ts";
import { lockOf, writeInstance } from "./instance.ts";
import { roleOf, serviceArguments, serviceSpecs, STOP_GRACE_MS } from "./service-specs.ts";
import { collectAfterStart } from "./small-memory.ts";
import { isSameService } from "./source-watch.ts";
import { StartObstacle } from "./start-obstacle.ts";
import { takeLock } from "./state-lock.ts";

const POLL_MS = 25;
const ROLL_CALL_MS = 10_000;

export class Supervisor {
  readonly #config: CliConfig;
  readonly #options: DevOptions;
  #bundle: string;
  readonly #report: Report;
  readonly #nats: EmbeddedNats;
  readonly #logs: LogFile[] = [];
  /** In the order in which they stop. */
  #children: SupervisedChild[] = [];
  /** Null: another supervisor owns the directory, so nothing in it may be touched. */
  #releaseLock: (() => void) | null = null;
  #stopping: Promise<void> | null = null;
  #reloading: Promise<void> = Promise.resolve();
  #gatewayUrl: string | null = null;
  readonly #obstacle: StartObstacle;

  constructor(config: CliConfig, options: DevOptions, bundle: string, report: Report) {
    this.#config = config;
    this.#options = options;
    this.#bundle = bundle;
    this.#report = report;
    this.#nats = new EmbeddedNats(config, options.dir);
    this.#obstacle = new StartObstacle(options.dir);
  }

  async start(): Promise<void> {
    const began = Date.now();
    const lock = await this.#lock();
    await this.#checkPorts();
    if (this.#stopping !== null) throw stoppedEarly();
    const nats = await this.#startNats(began, lock);
    this.#startServices(nats);
    const gateway = await this.#untilReady(began);
    if (this.#stopping !== null) return;
    writeInstance(this.#options.dir, { gateway, nats });
    this.#report({
      event: "ready",
      elapsedMs: Date.now() - began,
      gateway,
      nats,
      stateDir: this.#options.dir,
      logs: join(this.#options.dir, "logs"),
      pids: Object.fromEntries(this.#children.map((child) => [child.spec.name, this.#pidOf(child)])),
    });
    collectAfterStart();
  }

  #pidOf(child: SupervisedChild): number {
    return child.spec.name === "nats-server" ? this.#nats.pid() : (child.pid ?? -1);
  }

  async #checkPorts(): Promise<void> {
    const wanted = [
      { port: this.#options.natsPort, what: "nats-server", flag: "--nats-port" },
      { port: this.#options.port, what: "gateway", flag: "--port" },
    ];
    for (const { port, what, flag } of wanted) {
      if (port === 0 || (await isFree(port))) continue;
      const holder = (await greeting(port, 300))?.startsWith("INFO ") ? "a nats-server" : "another program";
      throw new Failure("ANT_DEV_PORT_TAKEN", `port ${port} for the ${what} is taken by ${holder}`, {
        remedy: `stop it, or choose another port: antiphon dev ${flag} ${port + 1} (0 picks a free one)`,
      });
    }
  }

  /** The open lock file. */
  async #lock(): Promise<number> {
    const lock = await takeLock(lockOf(this.#options.dir));
    if (lock.kind === "taken") {
      const { dir } = this.#options;
      const by =
        lock.by === null
          ? `the nats-server of an "antiphon dev" that was killed`
          : `another "antiphon dev" (pid ${lock.by.pid})`;
      throw new Failure("ANT_DEV_ALREADY_RUNNING", `${by} uses ${dir}`, {
        remedy: "use it, stop it, or start this one with its own --state-dir, --port and --nats-port",
      });
    }
    this.#releaseLock = lock.release;
    return lock.file;
  }

  async #startNats(began: number, lock: number): Promise<string> {
    const spec = { ...this.#nats.prepare(this.#options.natsPort, STOP_GRACE_MS), keepsOpen: lock };
    this.#child(spec, (line) => this.#obstacle.hearNats(line)).start();
    const port = await this.#until(began, "nats-server", () => this.#nats.portInUse());
    this.#nats.keepPort(port);
    await this.#until(began, "nats-server", async () => ((await this.#nats.answers(port)) ? true : null));
    return `nats://127.0.0.1:${port}`;
  }

  #startServices(natsUrl: string): void {
    const place = { stateDir: this.#config.stateDir, bundle: this.#bundle, nats: this.#nats, natsUrl };
    const services = serviceSpecs(this.#options, place).map((spec) =>
      this.#child(spec, (line) =>
        spec.name === "gateway" ? this.#learnGatewayUrl(line) : this.#obstacle.hearService(line),
      ),
    );
    const [natsServer] = this.#children.splice(0);
    this.#children = natsServer === undefined ? services : [...services, natsServer];
    for (const service of services) service.start();
  }

  /** Restarts, all at once, the services that differ in the new bundle. The nats-server and the others keep running. */
  reload(bundle: string): Promise<void> {
    this.#reloading = this.#reloading.then(() => this.#reload(bundle));
    return this.#reloading;
  }

  async #reload(bundle: string): Promise<void> {
    const began = Date.now();
    const before = this.#bundle;
    this.#bundle = bundle;
    const old = this.#children.filter(({ spec: { name } }) => {
      return name !== "nats-server" && !isSameService(roleOf(name), before, bundle);
    });
    await Promise.all(old.map((child) => child.stop()));
    if (this.#stopping !== null) return; // cli/C2: a child started now would not be stopped.
    for (const child of old) {
      const fresh = child.successor(serviceArguments(this.#options, bundle, roleOf(child.spec.name)));
      this.#children[this.#children.indexOf(child)] = fresh;
      fresh.start();
    }
    const names = old.map(({ spec }) => spec.name);
    this.#report({ event: "reloaded", names, elapsedMs: Date.now() - began });
  }

  #learnGatewayUrl(line: string): void {
    const url = /"url":"(http:\/\/[^"]+)"/.exec(line)?.[1];
    if (url === undefined || !line.includes('"listening"')) return;
    this.#gatewayUrl = url;
    // A restarted gateway comes back on the same port, where its callers expect it.
    const gateway = this.#children.find((child) => child.spec.name === "gateway");
    if (gateway !== undefined) gateway.spec.env["ANTIPHON_LISTEN"] = new URL(url).host;
  }

  #child(spec: ChildSpec, onLine?: (line: string) => void): SupervisedChild {
    const log = new LogFile(join(this.#options.dir, "logs", `${spec.name}.log`));
    this.#logs.push(log);
    const child = new SupervisedChild(spec, log, this.#report, onLine);
    this.#children.push(child);
    return child;
  }

  /** Ready means that every service answered the roll call through the gateway. */
  async #untilReady(began: number): Promise<string> {
    const wanted = this.#children.length - 1;
    return this.#until(began, "services", async () => {
      if (this.#gatewayUrl === null) return null;
      const asked = { method: "GET", headers: authorization(this.#config.token), timeoutMs: ROLL_CALL_MS };
      const url = `${this.#gatewayUrl}/services?expect=${wanted}`;
      const answer = await http.exchange(url, asked).catch(() => null);
      if (answer?.status !== 200) return null;
      const { services } = JSON.parse(answer.body.toString()) as { services: unknown[] };
      return services.length >= wanted ? this.#gatewayUrl : null;
    });
  }

  async #until<T>(began: number, what: string, probe: () => Promise<T | null> | T | null): Promise<T> {
    for (;;) {
      const found = await probe();
      if (found !== null) return found;
      if (this.#stopping !== null) throw stoppedEarly();
      const { failure } = this.#obstacle;
      if (failure !== null) throw failure;
      const broken = this.#children.find(isBroken);
      if (broken !== undefined || Date.now() - began > this.#options.readyWithinMs)
        this.#giveUp(what, broken);
      await sleep(POLL_MS);
    }
  }

  #giveUp(what: string, broken: SupervisedChild | undefined): never {
    const name = broken?.spec.name ?? what;
    const fatal = broken?.fatal ?? null;
    if (fatal !== null && fatal.code !== "ANT_INTERNAL")
      throw new Failure(fatal.code, `${name}: ${fatal.message}`, { remedy: fatal.remedy });
    const tail = broken?.tail.slice(-3).join(" | ") ?? "";
    const because =
      broken === undefined
        ? `not ready after ${this.#options.readyWithinMs / 1000} s`
        : `keeps exiting: ${tail}`;
    throw new Failure("ANT_DEV_NOT_READY", `${name} ${because}`, {
      remedy: `read ${join(this.#options.dir, "logs")}; "antiphon doctor" checks what it needs`,
    });
  }

  /** Idempotent. Resolves when every child has exited and the lock is released. */
  stop(): Promise<void> {
    this.#stopping ??= this.#drain();
    return this.#stopping;
  }

  async #drain(): Promise<void> {
    await this.#reloading; // cli/C2: a reload may still be replacing a child.
    const roles = new Set(this.#children.map((child) => roleOf(child.spec.name)));
    for (const role of roles) {
      const ofRole = this.#children.filter((child) => roleOf(child.spec.name) === role);
      await Promise.all(ofRole.map((child) => child.stop())); // cli/C2
    }
    for (const log of this.#logs) log.close();
    if (this.#releaseLock === null) return;
    this.#nats.cleanUp();
    this.#releaseLock();
  }

  /** The second Ctrl-C: kills every child at once. */
  kill(): void {
    for (const child of this.#children) child.kill();
  }
}

/** A setting that cannot be used is there at the next start, too. */
function isBroken({ failures, fatal }: SupervisedChild): boolean {
  const isSetting =
    fatal !== null &&
    isErrorCode(fatal.code) &&
    ERRORS[fatal.code].disposition === "terminal" &&
    ERRORS[fatal.code].exitCode === 2;
  return failures >= (isSetting ? 1 : 3);
}

function stoppedEarly(): Failure {
  return new Failure("ANT_DEV_STOPPED", "stopped before it was ready", {});
}
