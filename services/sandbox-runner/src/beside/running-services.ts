/**
 * The services of one job: each in a hardened container of its own, with the loopback interface of the job's sandbox and
 * nothing else of it. They are started before the first command, and again before each further trial, because a trial
 * must not find what the one before it left in a database.
 *
 * Lifecycle of a service: starting -> ready -> ended. A service that is not ready in time, or ends before it is ready,
 * ends the job with ANT_SERVICE_FAILED and the end of its output. One that ends later is for the checks to notice.
 *
 * Because a service's container is of the job, it ends with the job on every path, before the job's place is given to
 * another (sandbox-runner/S4).
 */
import { AntiphonError, limits, type ServiceOutcome, type ServiceSpec } from "@antiphon/contracts";
import { allDone, withDeadline } from "@antiphon/runtime";
import { MAX_OUTPUT_BYTES, serviceLimits } from "../job-limits.ts";
import { SandboxDied, type ImageFacts, type Sandbox } from "../ports.ts";
import { OutputBound, utf8Tail, type BoundedOutput } from "../conversation/output-bound.ts";
import { stepEnvironment } from "../environments/variables.ts";
import type { JobWords } from "../reaper/container-labels.ts";
import type { JobPorts } from "../jobs/job-ports.ts";
import { serviceArgv, WordListener } from "./service-script.ts";

const READY_MS = 60_000;
const NOTHING = new OutputBound(1).finish();

export interface ServicesParts {
  readonly ports: Pick<JobPorts, "beside" | "evidence" | "later" | "progress" | "newWord">;
  /** The sandbox whose loopback interface they have. */
  readonly main: Sandbox;
  readonly job: JobWords;
  readonly keepBytes: number;
  /** The services, each with its image. */
  readonly services: readonly { readonly spec: ServiceSpec; readonly image: ImageFacts }[];
}

interface Running {
  readonly sandbox: Sandbox;
  readonly ended: Promise<BoundedOutput>;
}

export class RunningServices {
  readonly #parts: ServicesParts;
  #running: Running[] = [];
  readonly #outcomes: Promise<ServiceOutcome>[] = [];

  constructor(parts: ServicesParts) {
    this.#parts = parts;
  }

  /** Starts all of them, side by side. Ends those that run. @throws AntiphonError ANT_SERVICE_FAILED */
  async start(): Promise<void> {
    await this.stop();
    const { services, ports } = this.#parts;
    if (services.length === 0) return;
    ports.progress(`starting ${services.map(({ spec }) => spec.name).join(", ")}`);
    const started = await Promise.allSettled(services.map((one) => this.#startOne(one)));
    for (const one of started) if (one.status === "rejected") throw one.reason;
  }

  /** Ends all of them. Resolves when their containers are gone; the job's place is taken until then. */
  stop(): Promise<void> {
    const running = this.#running.splice(0);
    const ends = running.map(({ sandbox }) =>
      sandbox.destroy({ kind: "canceled", reason: "the job is over" }),
    );
    const gone = allDone(ends);
    gone.catch(() => undefined); // the job reports it
    if (running.length > 0) this.#parts.ports.later(gone); // sandbox-runner/S4
    return gone;
  }

  /** The report of each, in the order in which they were started. */
  outcomes(): Promise<ServiceOutcome[]> {
    return Promise.all(this.#outcomes);
  }

  async #startOne({ spec, image }: ServicesParts["services"][number]): Promise<void> {
    const { ports, main, job, keepBytes } = this.#parts;
    const word = `ready ${ports.newWord()}`;
    const argv = serviceArgv(spec, image, word);
    if (argv === null)
      throw failed(spec, "its image names nothing to start, and it has no `command`", NOTHING);
    const begun = performance.now();
    const tmpfs = [...new Set([...image.volumes, ...(spec.tmpfs ?? [])])];
    const sandbox = await ports.beside({ imageId: image.id, limits: serviceLimits(), tmpfs }, main, job);
    const listener = new WordListener(word);
    let ready: () => void = () => undefined;
    const isReady = new Promise<"ready">((resolve) => (ready = () => resolve("ready")));
    const ended = outputOf(
      sandbox.run({
        argv,
        cwd: spec.command === undefined ? (image.directory ?? "/") : "/workspace",
        env: { ...stepEnvironment(image, sandbox.home), ...spec.env },
        stdin: null,
        timeoutMs: job.budgetMs + limits.serviceReadyMs,
        keepBytes,
        maxOutputBytes: MAX_OUTPUT_BYTES,
        onOutput: (_, piece) => {
          if (listener.heard(piece)) ready();
        },
      }),
    );
    this.#running.push({ sandbox, ended });
    const wait = spec.ready_s === undefined ? READY_MS : spec.ready_s * 1000;
    const how = await first(isReady, ended, main.gone, wait);
    const readyMs = how === "ready" ? performance.now() - begun : null;
    this.#report(spec, image, readyMs, ended);
    if (how === "ready") return;
    await sandbox.destroy({ kind: "canceled", reason: "the service did not become ready" });
    const why = how === "late" ? `was not ready within ${wait / 1000} s` : "ended before it was ready";
    if (how !== "gone") throw failed(spec, why, await ended);
    throw new AntiphonError("ANT_SANDBOX_FAILED", "the sandbox ended before its services were ready");
  }

  #report({ name }: ServiceSpec, image: ImageFacts, readyMs: number | null, ended: Running["ended"]): void {
    const { evidence } = this.#parts.ports;
    const outcome = ended.then(async (output): Promise<ServiceOutcome> => {
      const { stdout: log } = await evidence.outputs({ stdout: output, stderr: NOTHING });
      return { name, image: image.id, readyMs, log };
    });
    outcome.catch(() => undefined); // `outcomes` rejects with it
    this.#outcomes.push(outcome);
  }
}

/** What the service wrote until it ended, however that was. */
async function outputOf(run: ReturnType<Sandbox["run"]>): Promise<BoundedOutput> {
  try {
    return (await run).stdout;
  } catch (error) {
    if (error instanceof SandboxDied) return error.partial?.stdout ?? NOTHING;
    throw error;
  }
}

async function first(
  isReady: Promise<"ready">,
  ended: Promise<unknown>,
  gone: Promise<void>,
  waitMs: number,
): Promise<"ready" | "ended" | "gone" | "late"> {
  const happened = Promise.race([
    isReady,
    ended.then(() => "ended" as const),
    gone.then(() => "gone" as const),
  ]);
  return withDeadline(waitMs, happened, () => "late" as const);
}

function failed({ name }: ServiceSpec, why: string, output: BoundedOutput): AntiphonError {
  const tail = utf8Tail(output.bytes, limits.outputTailBytes).trim();
  return new AntiphonError("ANT_SERVICE_FAILED", `service ${name} ${why}${tail === "" ? "" : `:\n${tail}`}`);
}
