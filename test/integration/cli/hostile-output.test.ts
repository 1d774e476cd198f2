/**
 * cli/C5: every verb of the command, against a gateway, a repository, files and programs that are hostile. Whatever they say,
 * a terminal is sent readable text and our own colours. A verb is called with a run id for each of its arguments, unless it has
 * a row here.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encode } from "@antiphon/contracts";
import { RUN_FLAGS } from "@antiphon/contracts/runs/run-options";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { readConfig } from "../../../cli/src/config.ts";
import type { DevEvent } from "../../../cli/src/dev/events.ts";
import { devPrinter } from "../../../cli/src/dev/printer.ts";
import { reportLines } from "../../../cli/src/journal/journal-report.ts";
import { main } from "../../../cli/src/main.ts";
import { buildProgram } from "../../../cli/src/program.ts";
import { openScreen } from "../../../cli/src/screen/screen.ts";
import type { Terminal } from "../../../cli/src/screen/terminal.ts";
import { ANTIPHON, eventually, exitOf, ROOT, run as runProgram, start } from "../../e2e/support/program.ts";
import { DIFF, openHostileGateway, RUN, type HostileGateway } from "../../support/hostile-gateway.ts";
import { faultsIn, FORGED, HOSTILE, SEEN, SEEN_IN_JSON } from "../../support/hostile-text.ts";

interface Row {
  /** Default: the verb, and a run id for each argument that it requires. */
  readonly words?: readonly string[];
  /** No text from outside is in its result, because of this. */
  readonly silent?: string;
  /** It prints one text and nothing else, so a line of it cannot pass for one of ours. */
  readonly document?: true;
  /** The same of its JSON. */
  readonly silentJson?: string;
  /** It does not ask the gateway. */
  readonly local?: true;
}

const place = mkdtempSync(join(tmpdir(), "antiphon-hostile-"));
/** A directory may have any name without a slash. */
const repo = join(place, `app ${HOSTILE.trim()}`);
const root = join(place, "root");
const state = join(place, "state");
const file = (name: string): string => join(place, name);

const OWN: Readonly<Record<string, Row>> = {
  run: { words: ["run", HOSTILE, "--repo", repo, "--command", "true", "--follow"] },
  init: { words: ["init", "--repo", repo, "--dry-run"] },
  check: { words: ["check", "--repo", repo, "--check", HOSTILE] },
  open: { words: ["open", RUN, "--print"], silent: "the address is that of the caller's own setting" },
  findings: { document: true },
  events: { words: ["events", RUN, "--logs"] },
  diff: { document: true },
  answer: { words: ["answer", RUN, "yes"], silent: "it says the id, which has a form" },
  changes: { words: ["changes", RUN, "--reason", "x"] },
  cancel: { silent: "it says the id, which has a form" },
  pause: { silent: "it says the id, which has a form" },
  resume: { silent: "it says the id, which has a form" },
  fork: { words: ["fork", RUN, "--at", "T-001:1"] },
  bakeoff: { words: ["bakeoff", "--agent", "evil", "--limit", "1"] },
  prune: { words: ["prune", "--repo", repo], silent: "ids and commits of a known form only" },
  "dlq show": { words: ["dlq", "show", "x"] },
  "dlq requeue": { words: ["dlq", "requeue", "x"] },
  "policy explain": { words: ["policy", "explain", "--repo", repo] },
  "policy check": { words: ["policy", "check", "x", "--repo", repo, "--command", "true"] },
  "evidence export": { words: ["evidence", "export", RUN, "--out", file("proof")] },
  "keys make": {
    words: ["keys", "make", file(`key ${HOSTILE}`), "--trust", file(`trust ${HOSTILE}`)],
    silentJson: "the public key only",
    local: true,
  },
  "nats bootstrap": { words: ["nats", "bootstrap", file(`users ${HOSTILE}`)], local: true },
  "images build": { local: true },
  "images allow": { words: ["images", "allow", "x"] },
  "images disallow": { words: ["images", "disallow", "x"] },
  "models list": { words: ["models", "list", HOSTILE] },
  "models test": { words: ["models", "test", "x"] },
  "models add": { words: ["models", "add", "x", "--price", "*=0/0"] },
  "models remove": { words: ["models", "remove", "x"] },
  "agents list": { local: true },
  "agents show": { words: ["agents", "show", "evil"], local: true },
  "agents add": {
    words: ["agents", "add", file("pack")],
    local: true,
    silent: "the name of a pack has a form",
  },
  "agents test": { words: ["agents", "test", "evil", "--repo", repo] },
  dev: { words: ["dev", "--status", "--state-dir", file(`state ${HOSTILE}`)], local: true },
  serve: {
    words: ["serve", "--role", "router"],
    local: true,
    silent: "it prints its own error; services log through log-lines.ts",
  },
  setup: { local: true },
  explain: { words: ["explain", HOSTILE], local: true },
  validate: { words: ["validate", file(`file ${HOSTILE}.yaml`)], local: true },
  decode: { local: true, silent: "standard input is that of the process: see below" },
  mcp: { local: true, silent: "it speaks with a program over standard input: see below" },
  completion: { words: ["completion", "bash"], local: true, document: true, silent: "a text of our own" },
  complete: { words: ["complete", "--", "get", ""] },
  version: { local: true },
};

type Command = Pick<ReturnType<typeof buildProgram>, "commands" | "registeredArguments" | "name">;

/** Each command that does something by itself, with the words that start it. */
function leaves(command: Command, path: readonly string[]): [string, Row & { words: readonly string[] }][] {
  const below = command.commands.flatMap((one) => leaves(one, [...path, one.name()]));
  const name = path.join(" ");
  if (command.commands.length > 0 && !["runs", "keys"].includes(name)) return below;
  const needed = command.registeredArguments.filter(({ required }) => required).map(() => RUN);
  return [[name, { words: [...path, ...needed], ...OWN[name] }], ...below];
}

const ROWS = leaves(
  buildProgram({
    screen: openScreen(false, process),
    config: readConfig(root, {}),
    version: "0",
    root,
    bundle: place,
    program: null,
    runFlags: RUN_FLAGS,
    gateway: () => Promise.reject(new Error("not while the tests are listed")),
    setExitCode: () => undefined,
  }),
  [],
);

/** A status line and what erases it; how many are shown depends on the time. */
const STATUS = /[^\n]*\r\u001b\[2K/g;
let gateway: HostileGateway;

beforeAll(async () => {
  gateway = await openHostileGateway();
  vi.stubGlobal("__ANTIPHON_VERSION__", HOSTILE);
  for (const [name, value] of Object.entries({
    ANTIPHON_GATEWAY_URL: gateway.url,
    ANTIPHON_STATE_DIR: state,
    ANTIPHON_SANDBOX_IMAGE: HOSTILE,
    DOCKER_HOST: `unix:///nowhere/${HOSTILE}`,
    FORCE_COLOR: "",
    NO_COLOR: "",
    TERM: "xterm",
  }))
    vi.stubEnv(name, value);
  execFileSync("git", ["init", "--quiet", "--initial-branch=main", repo]);
  const git = (...args: string[]): unknown =>
    execFileSync("git", ["-C", repo, "-c", "user.name=a", "-c", "user.email=a@localhost", ...args]);
  git("commit", "--quiet", "--allow-empty", "--message", "x");
  git("branch", `antiphon/${RUN}`);
  const pack = (line: string): string =>
    `name: evil\ndescription: ${JSON.stringify(line)}\nargv: [${JSON.stringify(line)}]\nprompt: stdin\n`;
  // A pack is one line without a line break, which its contract demands.
  for (const dir of [join(state, "agents/evil"), file("pack")]) {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "agent.yaml"), pack(HOSTILE.replaceAll(/[\r\n]/g, "").slice(0, 200)));
  }
  mkdirSync(join(root, "setup"), { recursive: true });
  writeFileSync(join(root, "setup/main.mjs"), setupProgram());
});

afterEach(() => {
  process.exitCode = undefined;
});

afterAll(async () => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  await gateway.close();
  rmSync(place, { recursive: true, force: true });
});

/** A set-up program whose steps meet hostile texts, and which prints one on its standard error. */
function setupProgram(): string {
  const text = JSON.stringify(HOSTILE);
  return [
    `import { createReport } from ${JSON.stringify(join(ROOT, "setup/report.mjs"))};`,
    `const report = createReport({ json: process.argv.includes("--json") });`,
    `await report.step(${text}, async ({ note }) => { note(${text}); return { outcome: "made", detail: ${text} }; });`,
    `await report.step("x", () => Promise.reject(new Error(${text})));`,
    "process.exitCode = report.finish();",
  ].join("\n");
}

/** What a terminal is sent, or a pipe. */
async function printed(words: readonly string[], isTTY = true): Promise<{ stdout: string; stderr: string }> {
  const said = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof said): Terminal["stdout"] => ({
    isTTY,
    columns: 200,
    write: (part: string | Uint8Array) => {
      said[name] += Buffer.from(part).toString();
      return true;
    },
  });
  const terminal = { stdout: stream("stdout"), stderr: stream("stderr") };
  await main({ argv: words, root, bundle: place, terminal });
  return said;
}

/** A completion that comes too late for a person at the keyboard shows nothing; it is asked for again, as a person does. */
async function shown(
  verb: string,
  words: readonly string[],
  seen: string,
): Promise<Awaited<ReturnType<typeof printed>>> {
  if (verb !== "complete") return printed(words);
  return eventually("a completion in time", async () => {
    const said = await printed(words);
    return said.stdout.includes(seen) ? said : null;
  });
}

test("each row is of a verb", () => {
  expect(Object.keys(OWN).filter((verb) => !ROWS.some(([name]) => name === verb))).toEqual([]);
});

describe("what a verb shows of hostile text is visible and harmless (cli/C5)", () => {
  const rows = ROWS.filter(([verb]) => verb !== "decode" && verb !== "mcp");

  test.each(rows)("%s, on a terminal", async (verb, { words, silent, document }) => {
    const { stdout, stderr } = await shown(verb, words, SEEN);
    const faults = [...faultsIn(stdout), ...faultsIn(stderr)];
    expect(document === true ? faults.filter((fault) => !fault.startsWith("a line")) : faults).toEqual([]);
    if (silent === undefined) expect(`${stdout}${stderr}`).toContain(SEEN);
    else expect(`${stdout}${stderr}`).not.toContain("EVIL");
  });

  test.each(rows)("%s --json", async (verb, { words, silent, silentJson = silent }) => {
    const bare = words.indexOf("--");
    const at = bare === -1 ? words.length : bare;
    const asked = [...words.slice(0, at), "--json", ...words.slice(at)];
    const { stdout, stderr } = await shown(verb, asked, SEEN_IN_JSON);
    expect([...faultsIn(stdout), ...faultsIn(stderr)]).toEqual([]);
    const result = stdout.replaceAll(STATUS, "");
    for (const line of result.trimEnd().split("\n")) expect(() => void JSON.parse(line), line).not.toThrow();
    if (silentJson === undefined) expect(`${stdout}${stderr}`).toContain(SEEN_IN_JSON);
  });

  test.each(rows.filter(([, { local }]) => local !== true))(
    "%s, when it is refused",
    async (verb, { words }) => {
      gateway.refuse(true);
      try {
        const { stdout, stderr } = await printed(words);
        expect([...faultsIn(stdout), ...faultsIn(stderr)]).toEqual([]);
        // Completion is silent about failures, and the doctor and a preview without branches need no gateway.
        if (verb !== "complete") expect(`${stdout}${stderr}`).toContain(SEEN);
      } finally {
        gateway.refuse(false);
      }
    },
  );

  test("--help and a mistyped verb", async () => {
    for (const words of [
      ["--help"],
      ["run", "--help"],
      [HOSTILE],
      ["get", HOSTILE],
      ["runs", `--${HOSTILE}`],
    ]) {
      const { stdout, stderr } = await printed(words);
      expect([...faultsIn(stdout), ...faultsIn(stderr)]).toEqual([]);
    }
  });

  test("logs -f, the file of an evidence, and a file of checks", async () => {
    for (const words of [
      ["logs", "-f", RUN],
      ["logs", "--transcript", RUN],
      ["evidence", "get", RUN, "T-001", "1", "work/1.stdout.txt"],
      ["run", "x", "--repo", repo, "--tasks", file(`none ${HOSTILE}`)],
    ]) {
      const { stdout, stderr } = await printed(words);
      const faults = [...faultsIn(stdout), ...faultsIn(stderr)].filter(
        (fault) => !fault.startsWith("a line"),
      );
      expect(faults).toEqual([]);
      expect(`${stdout}${stderr}`).toContain(SEEN);
    }
  });
});

test("antiphon dev shows what services say, and the doctor faults of the journal (cli/C5)", () => {
  const said: string[] = [];
  const stream: Terminal["stdout"] = {
    isTTY: true,
    columns: 80,
    write: (text: string | Uint8Array) => said.push(String(text)) > 0,
  };
  const screen = openScreen(null, { stdout: stream, stderr: stream });
  const events: DevEvent[] = [
    { event: "child_log", name: HOSTILE, level: HOSTILE, line: HOSTILE },
    { event: "child_exited", name: "x", pid: 1, code: 1, signal: HOSTILE, restartInMs: 1, tail: [HOSTILE] },
    {
      event: "ready",
      elapsedMs: 1,
      gateway: HOSTILE,
      nats: HOSTILE,
      stateDir: HOSTILE,
      logs: HOSTILE,
      pids: {},
    },
    { event: "reloaded", names: [HOSTILE], elapsedMs: 1 },
    { event: "build_failed", message: HOSTILE },
    { event: "draining", reason: HOSTILE },
  ];
  for (const json of [false, true]) for (const event of events) devPrinter(screen, json)(event);
  const fault = {
    kind: HOSTILE,
    code: HOSTILE,
    runId: HOSTILE,
    subject: HOSTILE,
    seq: 1,
    expected: HOSTILE,
    found: HOSTILE,
    remedy: HOSTILE,
  };
  const report = { ok: false, faults: [fault], notes: [HOSTILE], runs: 1, records: 1, open: 0, unsigned: 0 };
  for (const line of reportLines(report as never, screen.colours)) screen.out(line);
  expect(faultsIn(said.join(""))).toEqual([]);
  expect(said.join("")).toContain(SEEN);
});

describe("in a pipe", () => {
  test("a patch, a file of the evidence and findings have their bytes", async () => {
    expect(await printed(["diff", RUN], false)).toEqual({ stdout: DIFF, stderr: "" });
    const words = ["evidence", "get", RUN, "T-001", "1", "work/1.stdout.txt"];
    expect(await printed(words, false)).toEqual({ stdout: HOSTILE, stderr: "" });
    expect(await printed(["findings", RUN], false)).toEqual({ stdout: HOSTILE, stderr: "" });
  });

  test("git applies the patch that the program writes into it", async () => {
    const target = file("target");
    execFileSync("git", ["init", "--quiet", target]);
    writeFileSync(join(target, "a"), "a\r\n");
    const { stdout, code } = await runProgram(process.execPath, [ANTIPHON, "diff", RUN], {
      env: { ANTIPHON_GATEWAY_URL: gateway.url },
    });
    expect([code, stdout]).toEqual([0, DIFF]);
    execFileSync("git", ["-C", target, "apply", "--whitespace=nowarn"], { input: stdout });
  });

  test("mcp writes lines of JSON only, in which a hostile text begins no line", async () => {
    const request = (id: number, method: string, params: object): string =>
      `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
    const clientInfo = { name: HOSTILE, version: "1" };
    const child = start(process.execPath, [ANTIPHON, "mcp", "--no-start"], {
      stdin: "", // Its client writes.
      env: { ANTIPHON_GATEWAY_URL: gateway.url },
    });
    child.stdin?.write(
      [
        request(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }),
        request(2, "tools/call", { name: "get_run", arguments: { run: RUN } }),
        request(3, "tools/call", { name: HOSTILE, arguments: {} }),
      ].join(""),
    );
    let said = "";
    // A line of this protocol ends at a line feed. Node's readline also ends one at U+2028, which JSON may hold.
    for await (const chunk of child.stdout!.setEncoding("utf8")) {
      said += chunk as string;
      if (said.split("\n").length === 4) child.stdin?.end();
    }
    const lines = said.trimEnd().split("\n");
    expect(await exitOf(child)).toBe(0);
    expect(lines.join("")).not.toMatch(/[\u0000-\u001f]/);
    const answers = lines.map((line) => JSON.parse(line) as { id: number; result: unknown });
    expect(answers.map(({ id }) => id).toSorted()).toEqual([1, 2, 3]);
    // The client is a program and gets the text as it is.
    expect(JSON.stringify(answers.find(({ id }) => id === 2)?.result)).toContain("EVIL");
  });

  test("lines are visible text as well, because a pager ends on a terminal", async () => {
    for (const words of [["get", RUN], ["runs"], ["logs", RUN]]) {
      const { stdout, stderr } = await printed(words, false);
      expect([...faultsIn(stdout), ...faultsIn(stderr)]).toEqual([]);
      expect(stdout).not.toMatch(/\u001b/);
      expect(stdout).toContain(SEEN);
    }
  });

  test.each([
    ["MessagePack", Buffer.from(encode({ a: HOSTILE })), SEEN_IN_JSON],
    ["text", Buffer.from("a\rb\n"), "a\\rb"],
  ])("decode shows %s as harmless text", async (_what, stdin, seen) => {
    for (const args of [
      [ANTIPHON, "decode"],
      [ANTIPHON.replace("antiphon.mjs", "antiphon-decode.mjs"), "--pretty"],
    ]) {
      const { stdout } = await runProgram(process.execPath, args, { stdin });
      expect(faultsIn(stdout)).toEqual([]);
      expect(stdout).toContain(seen);
    }
  });
});

test("the hostile text is harmful, and a line of it would pass for one of ours", () => {
  expect(faultsIn(HOSTILE)).toHaveLength(3);
  expect(faultsIn(`x\n${FORGED}`)).toEqual(["a line that passes for one of ours"]);
  expect(faultsIn("\u001b[31mred\u001b[39m\n")).toEqual([]);
});
