/**
 * Sandboxes from an E2B service: a virtual machine each, made a sandbox by supervisor/guest.ts.
 *
 * The service's SDK is loaded when this provider is chosen, and only then. Its key stays in this process: a machine gets
 * no environment from here, and what the SDK says is told without it.
 *
 * Invariants:
 *   V8  The key is in requests to the service's control API and nowhere else: no machine, log line, error or evidence.
 *   V9  What cannot be used, for want of a key, a template or a kernel that limits, is said before a job is taken.
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
/** What a machine outlives its runner by, at most. */
const LEASE_MS = 60_000;
const PROGRAM = "/root/.antiphon-guest";
/** Raw: from here on the terminal carries frames. */
const START = `stty raw -echo; exec perl ${PROGRAM} 2>/dev/null\n`;

/** How the service is reached; what is null is the SDK's default, the public service. */
export interface E2bAccess {
  readonly apiKey: string | null;
  readonly domain: string | null;
  readonly apiUrl: string | null;
  readonly sandboxUrl: string | null;
}

export interface E2bOptions {
  readonly access: E2bAccess;
  /** What machines are made of: the one image of this provider. */
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

  /** Asks the service for one line of its list: the key is good and the service there. */
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
      greeted.catch(() => undefined); // told below, or by what went wrong before it
      await line.open(START);
      this.#holds(await guest.enforced.catch(refusedBy));
      await greeted;
      return sandbox;
    } catch (error) {
      await sandbox.destroy({ kind: "gone", message: "it did not start" }).catch(() => undefined); // V6 ends it
      throw this.#told(error);
    }
  }

  async #create(metadata: Record<string, string>): Promise<Machine> {
    const { Sandbox } = await import("e2b");
    try {
      return await Sandbox.create(this.#options.template, {
        ...this.#access(),
        metadata,
        timeoutMs: this.#leaseMs, // V6
        allowInternetAccess: false,
        secure: true,
      });
    } catch (error) {
      throw this.#told(error);
    }
  }

  /** V5 */
  async #compare(machine: Machine, metadata: Record<string, string>): Promise<void> {
    const facts = await machine.getInfo();
    const found = machineDifferences({ templateId: this.#templateId, metadata }, facts);
    if (found.length > 0) throw refused(`the service's machine differs: ${found.join("; ")}`);
    this.#templateId ??= facts.templateId;
  }

  /** The first machine says what this provider enforces; a later one that enforces less is no sandbox. */
  #holds(found: Enforced): void {
    const { memory, processes } = this.#enforces;
    if ((memory && !found.memory) || (processes && !found.processes))
      throw refused("the machine's kernel limits less than those before it");
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

  /** Coded, without the key, and without the SDK's error inside: that one knows the request (V8). */
  #told(error: unknown): AntiphonError {
    if (error instanceof AntiphonError) return error;
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    const words = message.replaceAll(this.#options.access.apiKey ?? "\0", "[key]");
    if (name === "AuthenticationError") return unavailable(`the E2B service refuses the key: ${words}`);
    // The SDK has no class for it where a machine is made: its words begin with the status.
    if (/^404: .*template/i.test(words)) return missing(this.#options.template, `is not there: ${words}`);
    return new AntiphonError("ANT_SANDBOX_FAILED", `E2B: ${words}`);
  }
}

/** Rejects with ANT_SANDBOX_PROVIDER where no sandbox can be made: one is, and is ended again (V9). */
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
