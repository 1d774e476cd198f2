/**
 * Sandboxes from microsandbox: each is a virtual machine on this host, made by its program `msb` and made a sandbox by
 * supervisor/guest.ts. The conversation goes through `msb exec --stream`, a child of this process.
 *
 * Lifecycle: when this process ends, that child's input ends, then the supervisor, then the command. A machine without a
 * command ends by itself. The next runner removes its record, and any machine that a dead runner left.
 *
 * When msb is missing, has another release, or cannot boot a machine here, a coded error with msb's own reason says so
 * before a job is taken. When a later step fails, the new machine is removed; `gone` resolves after the removal.
 */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { AntiphonError } from "@antiphon/contracts";
import { LABELS } from "../../reaper/reap-plan.ts";
import { createWords, execWords, labelOf, machineDifferences } from "./microsandbox-command.ts";
import { guestProgram } from "../../supervisor/guest.ts";
import type { Enforced, ImageFacts, ProviderHost, SandboxOrder, SandboxProvider } from "../../ports.ts";
import { guestLine } from "../../conversation/guest-line.ts";
import { ownerState } from "@antiphon/runtime";
import { processLine } from "../../conversation/process-line.ts";
import { SupervisedSandbox } from "../../conversation/supervised-sandbox.ts";

/** The releases whose commands and answers this file knows. */
const RELEASE = /^msb 0\.6\.\d+/;
const ASK_MS = 20_000;
/** A machine boots in well under a second, but the first use of an image takes longer. */
const CREATE_MS = 120_000;
const LONGEST_S = 24 * 3600;
const ANSWER_BYTES = 4 * 1024 * 1024;

export interface MicrosandboxOptions {
  readonly instance: string;
  /** Directories to search for `msb`, separated by colons. */
  readonly path: string;
  /** The home of msb's user, where msb keeps its images and records. */
  readonly home: string;
  /** The one image of this provider, by msb's own name. */
  readonly image: string;
  readonly newName: () => string;
}

/** Its errors, and the remedies after an arrow (\u2192, which as itself would double the memory that the bundle's text takes). */
const ANSWER_LINE = /^(error:|\u2192)/;

export class MicrosandboxProvider implements SandboxProvider {
  readonly name = "microsandbox";
  readonly #options: MicrosandboxOptions;
  #enforces: Enforced = { memory: false, processes: false };

  constructor(options: MicrosandboxOptions) {
    this.#options = options;
  }

  get enforces(): Enforced {
    return this.#enforces;
  }

  async image(reference: string): Promise<ImageFacts | null> {
    const { image } = this.#options;
    return Promise.resolve(reference === image ? { id: image, env: [], volumes: [] } : null);
  }

  /** Checks that msb is installed, has a known release, and reports that a machine can boot. */
  async ping(): Promise<void> {
    const release = (await this.#ask(["--version"])).trim();
    if (!RELEASE.test(release)) throw unavailable(`${release} is not msb 0.6`);
    await this.#ask(["doctor"]);
  }

  async start(order: SandboxOrder): Promise<SupervisedSandbox> {
    if (order.imageId !== this.#options.image)
      throw new AntiphonError("ANT_SANDBOX_IMAGE_MISSING", `this runner's image is ${this.#options.image}`);
    const since = performance.now();
    const name = this.#options.newName();
    const token = randomBytes(12).toString("hex");
    try {
      await this.#ask(createWords(name, order, LONGEST_S), CREATE_MS, "ANT_SANDBOX_FAILED");
      const found = machineDifferences(JSON.parse(await this.#ask(["inspect", "--format", "json", name])));
      if (found.length > 0) throw refused(`the machine differs: ${found.join("; ")}`);
    } catch (error) {
      await this.#remove(name).catch(() => undefined); // the first error is the one to report
      throw error;
    }
    const sandbox = await this.#launch(name, order, token, since);
    return sandbox;
  }

  async #launch(name: string, order: SandboxOrder, token: string, since: number): Promise<SupervisedSandbox> {
    const child = spawn("msb", execWords(name, guestProgram(order.limits, token)), {
      cwd: "/",
      env: this.#environment(),
      stdio: ["pipe", "pipe", "pipe"],
    });
    const cleanUp = (): Promise<void> => this.#remove(name);
    const inner = processLine(child, { id: name, remove: () => undefined, cleanUp });
    const { line, enforced } = guestLine(inner, token);
    const sandbox = new SupervisedSandbox(line, order.imageId, since);
    try {
      const greeted = sandbox.greet();
      greeted.catch(() => undefined); // awaited below, unless an earlier step fails first
      this.#holds(await enforced.catch(refusedBy));
      await greeted;
      return sandbox;
    } catch (error) {
      await sandbox.destroy({ kind: "gone", message: "it did not start" }).catch(() => undefined);
      throw error;
    }
  }

  /** Removes the machines that dead runners of this instance left. Machines of living runners stay. */
  async sweep(): Promise<void> {
    const label = `${LABELS.instance}=${this.#options.instance}`;
    const listed = JSON.parse(await this.#ask(["list", "--format", "json", "--label", label])) as {
      name: string;
    }[];
    for (const { name } of listed) {
      const record: unknown = JSON.parse(await this.#ask(["inspect", "--format", "json", name]));
      const owner = labelOf(record, LABELS.owner);
      if (owner !== null && ownerState(owner) === "gone") await this.#remove(name);
    }
  }

  async #remove(name: string): Promise<void> {
    await this.#ask(["remove", "--force", "--quiet", name], ASK_MS, "ANT_SANDBOX_FAILED").catch(
      (error: unknown) => {
        if (!(error instanceof Error && /not found/.test(error.message))) throw error;
      },
    );
  }

  /** The first machine decides what this provider enforces. A later machine that enforces less is refused. */
  #holds(found: Enforced): void {
    const { memory, processes } = this.#enforces;
    if ((memory && !found.memory) || (processes && !found.processes))
      throw refused("the machine's kernel enforces fewer limits than that of an earlier machine");
    this.#enforces = found;
  }

  /** Only the paths of msb and its home, nothing else of this process's own environment. */
  #environment(): Record<string, string> {
    return { PATH: this.#options.path, HOME: this.#options.home };
  }

  /** The output of msb; rejects with its complaint. */
  #ask(
    words: readonly string[],
    timeout = ASK_MS,
    code: "ANT_SANDBOX_PROVIDER" | "ANT_SANDBOX_FAILED" = "ANT_SANDBOX_PROVIDER",
  ): Promise<string> {
    const options = { timeout, env: this.#environment(), cwd: "/", maxBuffer: ANSWER_BYTES };
    return new Promise((resolve, reject) => {
      execFile("msb", [...words], options, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        if (error.code === "ENOENT") return reject(unavailable("msb is not installed"));
        const lines = `${stderr}\n${stdout}`.split("\n").map((line) => line.trim());
        const said = lines.filter((line) => ANSWER_LINE.test(line)).join(" ");
        reject(
          new AntiphonError(
            code,
            `msb ${words[0] ?? ""}: ${said === "" ? error.message.slice(0, 300) : said}`,
          ),
        );
      });
    });
  }
}

/** Makes and ends one sandbox as a trial. Rejects with ANT_SANDBOX_PROVIDER where no machine boots. */
export async function openMicrosandboxHost(
  options: Omit<MicrosandboxOptions, "image"> & { readonly image: string | null },
  trial: Pick<SandboxOrder, "limits" | "labels">,
): Promise<ProviderHost> {
  const { image } = options;
  const provider = new MicrosandboxProvider({ ...options, image: image ?? "" });
  await provider.ping();
  if (image === null)
    throw new AntiphonError(
      "ANT_SANDBOX_IMAGE_MISSING",
      "microsandbox needs ANTIPHON_SANDBOX_IMAGE, an image msb has",
    );
  await provider.sweep();
  const sandbox = await provider.start({ ...trial, imageId: image });
  await sandbox.destroy({ kind: "canceled", reason: "the trial is over" });
  return { provider, close: () => Promise.resolve() };
}

function unavailable(why: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_PROVIDER", why);
}

function refused(why: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_REFUSED", why);
}

function refusedBy(error: unknown): never {
  throw refused(
    `the machine cannot be made a sandbox: ${error instanceof Error ? error.message : String(error)}`,
  );
}
