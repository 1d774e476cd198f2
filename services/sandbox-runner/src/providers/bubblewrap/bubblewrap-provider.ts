/**
 * Sandboxes from bubblewrap: namespaces over this host's own programs, read-only, for a developer's Linux without an
 * engine. It is for development only (providers/provider-rules.ts).
 *
 * The supervisor is PID 1 of the sandbox and a child of this process, so it ends with this process (--die-with-parent,
 * and the end of its stdin). No reaper is needed; only empty cgroups are swept.
 *
 * A sandbox has no network, no home, no /run and no writable path of the host: bubblewrap-command.ts names everything it
 * has. A missing bubblewrap or missing user namespaces are a coded error with the reason that the program gives.
 */
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, lstatSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { AntiphonError, HOST_IMAGE } from "@antiphon/contracts";
import { bubblewrapArguments, FILTER_FD, type BubblewrapFacts } from "./bubblewrap-command.ts";
import { seccompFilter } from "../seccomp-filter.ts";
import { SUPERVISOR_COMMAND, SUPERVISOR_ENTRYPOINT } from "../../supervisor/command.ts";
import type { Enforced, ImageFacts, ProviderHost, SandboxOrder, SandboxProvider } from "../../ports.ts";
import { makeCgroup, sweepCgroups } from "./cgroup.ts";
import { processLine } from "../../conversation/process-line.ts";
import { SupervisedSandbox } from "../../conversation/supervised-sandbox.ts";

const FACTS: ImageFacts = { id: HOST_IMAGE, env: [], volumes: [] };
const TOP = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/** The user that a sandbox's processes have on this host when root starts them. */
const NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"];
/** Joins the cgroups before `--`, then becomes the command after it. */
const JOIN =
  'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"';

export interface BubblewrapOptions {
  readonly instance: string;
  /** Directories to search for programs, separated by colons. */
  readonly path: string;
  readonly newName: () => string;
}

export class BubblewrapProvider implements SandboxProvider {
  readonly name = "bubblewrap";
  readonly #options: BubblewrapOptions;
  readonly #filter = seccompFilter(process.arch);
  #program: readonly string[] | null = null;
  #limits = false;

  constructor(options: BubblewrapOptions) {
    this.#options = options;
  }

  get enforces(): Enforced {
    return { memory: this.#limits, processes: this.#limits };
  }

  /** The cgroup that limits memory, processes and CPU, where this process may make one. */
  get parent(): string {
    return `antiphon-${this.#options.instance}`;
  }

  async image(reference: string): Promise<ImageFacts | null> {
    return Promise.resolve(reference === HOST_IMAGE ? FACTS : null);
  }

  /** Starts a sandbox that does nothing. */
  async ping(): Promise<void> {
    const program = this.#find();
    const limits = { workspaceBytes: 1 << 20, tmpBytes: 1 << 20 };
    const words = bubblewrapArguments(limits, { ...factsOf([]), hasFilter: false }, ["/bin/sh", "-c", ":"]);
    const [command = "", ...rest] = [...program, ...words];
    const { status, stderr, error } = spawnSync(command, rest, {
      env: {},
      timeout: 10_000,
      encoding: "utf8",
    });
    if (status === 0) return Promise.resolve();
    const why = error?.message ?? (stderr.trim().split("\n").at(-1) || `exit code ${String(status)}`);
    throw unavailable(`bubblewrap cannot make a sandbox here: ${why}`);
  }

  async start(order: SandboxOrder): Promise<SupervisedSandbox> {
    if (order.imageId !== HOST_IMAGE)
      throw new AntiphonError("ANT_SANDBOX_IMAGE_MISSING", `bubblewrap has one image, ${HOST_IMAGE}`);
    const since = performance.now();
    const id = this.#options.newName();
    const cgroup = makeCgroup(this.parent, id, order.limits);
    this.#limits = cgroup !== null;
    const facts: BubblewrapFacts = { ...factsOf(cgroup?.readable ?? []), hasFilter: this.#filter !== null };
    const supervisor = [...SUPERVISOR_ENTRYPOINT, ...SUPERVISOR_COMMAND];
    const words = bubblewrapArguments(order.limits, facts, supervisor);
    const joined = [...(cgroup?.directories ?? []), "--", ...this.#find(), ...words];
    const child = spawn("/bin/sh", ["-c", JOIN, "sh", ...joined], {
      cwd: "/",
      env: {},
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    const filter = child.stdio[FILTER_FD] as NodeJS.WritableStream;
    filter.on("error", () => undefined); // it never started, and the end of the process reports that
    filter.end(this.#filter ?? Buffer.alloc(0));
    const line = processLine(child, {
      id,
      remove: () => cgroup?.kill(),
      cleanUp: async () => cgroup?.remove(),
    });
    const sandbox = new SupervisedSandbox(line, HOST_IMAGE, since);
    try {
      await sandbox.greet();
      return sandbox;
    } catch (error) {
      await sandbox.destroy({ kind: "gone", message: "it did not start" });
      throw error;
    }
  }

  #find(): readonly string[] {
    if (this.#program !== null) return this.#program;
    const bubblewrap = this.#lookUp("bwrap");
    if (bubblewrap === null)
      throw unavailable("bubblewrap is not installed (Debian: apt-get install bubblewrap)");
    const setpriv = process.getuid?.() === 0 ? this.#lookUp("setpriv") : null;
    this.#program = setpriv === null ? [bubblewrap] : [setpriv, ...NOBODY.slice(1), bubblewrap];
    return this.#program;
  }

  #lookUp(name: string): string | null {
    for (const directory of this.#options.path.split(":")) {
      const path = join(directory, name);
      if (directory !== "" && isExecutable(path)) return path;
    }
    return null;
  }
}

/** Rejects with ANT_SANDBOX_PROVIDER where no sandbox can be made. */
export async function openBubblewrapHost(options: BubblewrapOptions): Promise<ProviderHost> {
  const provider = new BubblewrapProvider(options);
  await provider.ping();
  sweepCgroups(provider.parent);
  return {
    provider,
    close: async () => {
      sweepCgroups(provider.parent);
      return Promise.resolve();
    },
  };
}

function factsOf(cgroups: BubblewrapFacts["cgroups"]): Omit<BubblewrapFacts, "hasFilter"> {
  const links: Record<string, string> = {};
  const directories: string[] = [];
  for (const place of TOP) {
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === true) links[place] = readlinkSync(place);
    else if (found?.isDirectory() === true) directories.push(place);
  }
  return { links, directories, cgroups };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // missing, or not executable for this user
  }
}

function unavailable(why: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_PROVIDER", why);
}
