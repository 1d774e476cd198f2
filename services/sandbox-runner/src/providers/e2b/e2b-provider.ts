/**
 * Sandboxes from an E2B service: each is a virtual machine, made a sandbox by supervisor/guest.ts.
 *
 * The service's SDK is loaded only when this provider is chosen. Its key is sent to the service's control API and is in
 * nothing else: no machine, log line, error or evidence. A missing key or template is reported before a job is taken.
 */
import { randomBytes } from "node:crypto";
import { AntiphonError, type ErrorCode } from "@antiphon/contracts";
import type { Sandbox as Machine } from "e2b";
import { machineDifferences } from "./e2b-machine.ts";
import { guestProgram } from "../../supervisor/guest.ts";
import type { Enforced, ImageFacts, ProviderHost, SandboxOrder, SandboxProvider } from "../../ports.ts";
import { E2bLine } from "./e2b-line.ts";
import { guestLine } from "../../conversation/guest-line.ts";
import { SupervisedSandbox } from "../../conversation/supervised-sandbox.ts";

const REQUEST_MS = 30_000;
/** The longest time that a machine outlives its runner. */
const LEASE_MS = 60_000;
const PROGRAM = "/root/.antiphon-guest";
/** Raw mode: from here on the terminal carries frames. */
const START = `stty raw -echo; exec perl ${PROGRAM} 2>/dev/null\n`;

/** The addresses of the service. Null stands for the SDK's default, the public service. */
export interface E2bAccess {
  readonly apiKey: string | null;
  readonly domain: string | null;
  readonly apiUrl: string | null;
  readonly sandboxUrl: string | null;
}

export interface E2bOptions {
  readonly access: E2bAccess;
  /** The template of all machines: the one image of this provider. */
  readonly template: string;
  /** See e2b-line.ts. Default 60 s. */
  readonly leaseMs?: number;
}

export class E2bProvider implements SandboxProvider {
  readonly name = "e2b";
  readonly #options: E2bOptions;
  #enforces: Enforced = { memory: false, processes: false };
  #templateId: string | null = null;

  constructor(options: E2bOptions) {
    this.#options = options;
  }

  get #leaseMs(): number {
    return this.#options.leaseMs ?? LEASE_MS;
  }

  get enforces(): Enforced {
    return this.#enforces;
  }

  async image(reference: string): Promise<ImageFacts | null> {
    const { template } = this.#options;
    return Promise.resolve(reference === template ? { id: template, env: [], volumes: [] } : null);
  }

  /** Asks the service for one entry of its list, which shows that the key is valid and the service is reachable. */
  async ping(): Promise<void> {
    const { Sandbox } = await import("e2b");
    await Sandbox.list({ ...this.#access(), limit: 1 })
      .nextItems()
      .catch((error: unknown) => {
        throw this.#told(error);
      });
  }

  async start(order: SandboxOrder): Promise<SupervisedSandbox> {
    if (order.imageId !== this.#options.template)
      throw missing(order.imageId, "is not this runner's template");
    const since = performance.now();
    const metadata = Object.fromEntries(Object.entries(order.labels).filter(([, value]) => value !== ""));
    const machine = await this.#create(metadata);
    const token = randomBytes(12).toString("hex");
    const line = new E2bLine(machine, this.#leaseMs);
    const guest = guestLine(line, token);
    const sandbox = new SupervisedSandbox(guest.line, order.imageId, since);
    try {
      await this.#compare(machine, metadata);
      await machine.files.write(PROGRAM, guestProgram(order.limits, token), { user: "root" });
      const greeted = sandbox.greet();
      greeted.catch(() => undefined); // awaited below, unless an earlier step fails first
      await line.open(START);
      this.#holds(await guest.enforced.catch(refusedBy));
      await greeted;
      return sandbox;
    } catch (error) {
      await sandbox.destroy({ kind: "gone", message: "it did not start" }).catch(() => undefined); // otherwise its lease expires
      throw this.#told(error);
    }
  }

  async #create(metadata: Record<string, string>): Promise<Machine> {
    const { Sandbox } = await import("e2b");
    try {
      return await Sandbox.create(this.#options.template, {
        ...this.#access(),
        metadata,
        timeoutMs: this.#leaseMs, // the lease
        allowInternetAccess: false,
        secure: true,
      });
    } catch (error) {
      throw this.#told(error);
    }
  }

  /** Refuses a machine that differs from the requested one. */
  async #compare(machine: Machine, metadata: Record<string, string>): Promise<void> {
    const facts = await machine.getInfo();
    const found = machineDifferences({ templateId: this.#templateId, metadata }, facts);
    if (found.length > 0) throw refused(`the service's machine differs: ${found.join("; ")}`);
    this.#templateId ??= facts.templateId;
  }

  /** The first machine decides what this provider enforces. A later machine that enforces less is refused. */
  #holds(found: Enforced): void {
    const { memory, processes } = this.#enforces;
    if ((memory && !found.memory) || (processes && !found.processes))
      throw refused("the machine's kernel enforces fewer limits than that of an earlier machine");
    this.#enforces = found;
  }

  #access() {
    const { apiKey, domain, apiUrl, sandboxUrl } = this.#options.access;
    if (apiKey === null)
      throw unavailable("e2b needs a key: E2B_API_KEY in the sandbox-runner's environment");
    return {
      apiKey,
      debug: false,
      requestTimeoutMs: REQUEST_MS,
      ...(domain === null ? {} : { domain }),
      ...(apiUrl === null ? {} : { apiUrl }),
      ...(sandboxUrl === null ? {} : { sandboxUrl }),
    };
  }

  /** A coded error without the key, and without the SDK's own error, which contains the request. */
  #told(error: unknown): AntiphonError {
    if (error instanceof AntiphonError) return error;
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    const words = message.replaceAll(this.#options.access.apiKey ?? "\0", "[key]");
    if (name === "AuthenticationError") return unavailable(`the E2B service refuses the key: ${words}`);
    // When a machine is made, the SDK has no error class for this, but its message begins with the status.
    if (/^404: .*template/i.test(words)) return missing(this.#options.template, `is not there: ${words}`);
    return new AntiphonError("ANT_SANDBOX_FAILED", `E2B: ${words}`);
  }
}

/** Makes and ends one sandbox as a trial. Rejects with ANT_SANDBOX_PROVIDER where no sandbox can be made. */
export async function openE2bHost(
  options: E2bOptions,
  trial: Pick<SandboxOrder, "limits" | "labels">,
): Promise<ProviderHost> {
  const provider = new E2bProvider(options);
  await provider.ping();
  const sandbox = await provider.start({ ...trial, imageId: options.template });
  await sandbox.destroy({ kind: "canceled", reason: "the trial is over" });
  return { provider, close: () => Promise.resolve() };
}

function refusedBy(error: unknown): never {
  throw refused(
    `the machine cannot be made a sandbox: ${error instanceof Error ? error.message : String(error)}`,
  );
}

const coded =
  (code: ErrorCode) =>
  (why: string): AntiphonError =>
    new AntiphonError(code, why);
const refused = coded("ANT_SANDBOX_REFUSED");
const unavailable = coded("ANT_SANDBOX_PROVIDER");
const missing = (image: string, why: string): AntiphonError =>
  new AntiphonError("ANT_SANDBOX_IMAGE_MISSING", `${image} ${why}`);
