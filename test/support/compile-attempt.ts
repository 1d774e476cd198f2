/** An attempt of the agent `opencode-server` without a sandbox: the programs of its pack, in a repository of its own. */
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { parse } from "yaml";

const PACK = join(import.meta.dirname, "../../agents/opencode-server");

interface Pack {
  readonly install: { readonly npm: readonly string[]; readonly files: readonly string[] };
  readonly env: Readonly<Record<string, string>>;
}

export const COMPILE_PACK = parse(readFileSync(join(PACK, "agent.yaml"), "utf8")) as Pack;
export const COMPILE_INPUT = {
  intent: { goal: "Fix", prompt: "Fix the broken add" },
  schemaVersion: 0,
  seed: "0",
};

export interface CompileEvent {
  readonly event: string;
  readonly start?: number;
  readonly why?: string;
  readonly mib?: number;
  readonly tokens?: number;
}

interface Run {
  /** Of the model server. Default: there is none. */
  readonly port?: number;
  readonly artifacts?: readonly string[];
  /** What its program reads. Default: COMPILE_INPUT. */
  readonly told?: string;
  /** More words of its command. */
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

let made = 0;

export class CompileAttempt {
  readonly root: string;
  readonly file: string;
  readonly events: CompileEvent[] = [];
  stderr = "";
  readonly #place: string;
  readonly #home: string;
  #pid = 0;

  /** @param place a directory of the test, whose `node_modules/.bin` has `opencode` */
  constructor(place: string) {
    made += 1;
    this.#place = place;
    this.root = join(place, `work-${made}`);
    this.file = join(place, `compile-${made}.json`);
    this.#home = join(place, `home-${made}`);
    for (const name of COMPILE_PACK.install.files) copyFileSync(join(PACK, name), join(place, name));
    mkdirSync(this.root);
    writeFileSync(join(this.root, "add.js"), "module.exports = (a, b) => a - b;\n");
    this.git("init", "--quiet");
    this.git("add", "--all");
    this.git("commit", "--quiet", "--message", "Begin");
  }

  git(...words: string[]): string {
    const who = ["-c", "user.name=T", "-c", "user.email=t@localhost"];
    return execFileSync("git", ["-C", this.root, ...who, ...words], { encoding: "utf8" });
  }

  /** @returns its exit code */
  async run({ port = 1, artifacts = [], told, words = [], env = {} }: Run): Promise<number | null> {
    const filled = (value: string): string =>
      value.replaceAll("${model}", "m").replaceAll("https://${model_host}", `http://127.0.0.1:${port}`);
    const task = { task_id: "T-001", time_budget_s: 300, return: { artifacts } };
    const child = spawn(process.execPath, [join(this.#place, "compile.mjs"), ...words], {
      cwd: this.root,
      env: {
        ...Object.fromEntries(Object.entries(COMPILE_PACK.env).map(([name, value]) => [name, filled(value)])),
        PATH: `${join(this.#place, "node_modules/.bin")}:${process.env["PATH"]}`,
        HOME: this.#home,
        ANTIPHON_COMPILE_FILE: this.file,
        ANTIPHON_TASK: JSON.stringify({ task }),
        ...env,
      },
    });
    this.#pid = child.pid ?? 0;
    child.stdin.end(told ?? JSON.stringify(COMPILE_INPUT));
    createInterface({ input: child.stdout }).on("line", (line) =>
      this.events.push(JSON.parse(line) as CompileEvent),
    );
    const [code, stderr] = await Promise.all([
      new Promise<number | null>((resolve) => child.on("close", resolve)),
      text(child.stderr),
    ]);
    this.stderr = stderr;
    return code;
  }

  /** OpenCode's server and what it started. */
  signal(name: "SIGKILL" | "SIGSTOP"): void {
    const children = readFileSync(`/proc/${this.#pid}/task/${this.#pid}/children`, "utf8");
    for (const pid of children.trim().split(" ")) process.kill(-Number(pid), name);
  }

  get kept(): { readonly input: unknown; readonly output?: Readonly<Record<string, unknown>> } {
    return JSON.parse(readFileSync(this.file, "utf8")) as CompileAttempt["kept"];
  }

  get starts(): number {
    return this.events.filter(({ event }) => event === "server").length;
  }
}
