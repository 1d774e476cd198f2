/** docs/guides/nats-cli.md: each task of the guide, run in a shell with the stock `nats` command against a real stack. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { eventually, exitOf, ROOT, run, start } from "./support/program.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

const TOOLS = `${ROOT}.antiphon/tools`;

interface Task {
  readonly title: string;
  readonly script: string;
}

/** The headings of the third level, each with its shell block. */
function tasksOf(guide: string): Task[] {
  return guide
    .split(/^### /m)
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf("\n")),
      script: /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? "",
    }));
}

const TASKS = tasksOf(readFileSync(`${ROOT}docs/guides/nats-cli.md`, "utf8"));

/** What a task that follows shows once a run has landed, or a dead letter was stored. */
const FOLLOWING: Readonly<Record<string, (runId: string) => RegExp>> = {
  "Follow every run as it happens": (runId) =>
    new RegExp(`"runId":"${runId}".*"type":"closed"|"type":"closed".*"${runId}"`),
  "Follow one run": () => /"type":"closed"/,
  "Follow what is decided": (runId) => new RegExp(`(?=[^]*landing\\.${runId})(?=[^]*closed\\.${runId})`),
  "Follow the output of the agents": () => /working/,
  "Watch the runs change": (runId) => new RegExp(`PUT ANT_RUNS > ${runId}: .*"succeeded"`),
  "Hear of the next dead letter": () => /run_poison/,
};

/** What the other tasks print. */
const SHOWN: Readonly<Record<string, (runId: string) => RegExp>> = {
  "Which runs are there?": (runId) => new RegExp(`^${runId}$`, "m"),
  "How is a run?": (runId) => new RegExp(`"runId":"${runId}","status":"succeeded"`),
  "What happened in a run?": (runId) => new RegExp(`verdict\\.${runId}\\.t-001\\.1`),
  "Read one record": () => /Antiphon-Signature[^]*"status":"succeeded"/,
  "Read all records of a run": () => /journal\.intent\.v1|"type":"intent"/,
  "Read a record by its number in the stream": () => /ANT_JOURNAL_0#1[^]*"type":"intent"/,
  "Which runs landed a commit?": (runId) => new RegExp(`landing\\.${runId}`),
  "What was asked for?": () => /Fix add/,
  "List the contracts": (runId) => new RegExp(`^${runId}\\.router$`, "m"),
  "Read the router contract of a run": () => /"status":"COMPLETE"/,
  "Read the contract of a task": () => /node test\.js/,
  "Which evidence does a run have?": (runId) => new RegExp(`^${runId}\\.T-001\\.1\\.verdict$`, "m"),
  "Read the evidence of an attempt": () => /sha256-/,
  "Read the evidence of the clean room": () => /node test\.js/,
  "List the files of all evidence": () => /sha256-[\w-]{43}/,
  "Take a file of the evidence out, and check it": () => /^sha256-[\w-]{43}$/m,
  "Take out the base that an attempt started from": () => /^add\.js$/m,
  "Read the public key of a Director": () => /"Ed25519"/,
  "Does anything wait?": () => /associate .*Explicit/,
  "How far behind are the Associates?": () => /Unprocessed Messages: 0/,
  "Alarm when too much waits": () => /^OK/m,
  "How many runs are open?": () => /Unprocessed Messages: 2[^]*Unprocessed Messages: 1/,
  "Which times are set?": (runId) => new RegExp(`timer\\.set\\.deadline\\.${runId}`),
  "Are there dead letters?": () => /antiphon\.v1\.dlq\.router\.intent\.run_poison/,
  "Read the last dead letter": () => /run_poison/,
  "Which services run, in which version?": () => /associate +│ \d+\.\d+\.\d+/,
  "Does every service answer?": () => /^director .*rtt=/m,
  "Which requests does a service take?": () => /antiphon\.v1\.rpc\.repo\.inspect/,
  "How many requests has it answered, how fast, how many failed?": () => /inspect +│ [1-9]/,
  "How is the gateway doing, route by route?": () => /post-intents-id-run +│ 1 /,
  "How large are the streams?": () => /ANT_JOURNAL_0 +│ File/,
  "How large is the journal, and is it whole?": () => /Deleted Messages|First Sequence: 1/,
  "How long does the server take to answer?": () => /µs|ms/,
  "Which prepared environments are there?": () => /^/,
};

let stack: Stack;
let project: Project;
let dir: string;
let runId = "";
let file = "";

const filled = (script: string): string => script.replaceAll("<runId>", runId).replaceAll("<file>", file);
const shell = () => ({
  cwd: dir,
  env: {
    PATH: `${TOOLS}:${process.env["PATH"] ?? ""}`,
    NATS_URL: stack.ready.nats,
    DECODE: `${ROOT}bin/antiphon-decode.mjs`,
    HOME: dir, // nobody's own context of the nats command
  },
});

/** A task that does not end by itself: what it has printed so far, and how to end it. */
interface Following {
  readonly title: string;
  said(): string;
  end(): Promise<void>;
}

function follow({ title, script }: Task): Following {
  const child = start("bash", ["-c", `exec ${filled(script).trim()}`], shell());
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (data: Buffer) => (said += data.toString()));
  return {
    title,
    said: () => said,
    async end() {
      child.kill("SIGTERM");
      await exitOf(child);
    },
  };
}

const following: Following[] = [];

beforeAll(async () => {
  stack = await startQuickStack();
  project = makeProject(BROKEN_CALCULATOR);
  dir = mkdtempSync(join(tmpdir(), "antiphon-nats-cli-"));
  const { document } = await stack.json<{ runId: string }>([
    ...["run", "Fix add", "--repo", project.path, "--detach", "--check", CHECK],
    ...["--command", `sleep 4; echo working; ${FIX}`],
  ]);
  runId = document.runId;
  const tasks = TASKS.filter(({ title }) => title in FOLLOWING);
  const isLast = ({ title }: Task): number => Number(title === "Watch the runs change");
  for (const task of tasks.sort((a, b) => isLast(a) - isLast(b))) following.push(follow(task));
  // The programs print nothing when they have subscribed. The one that began last shows what is stored already.
  const last = following.find(({ title }) => title === "Watch the runs change")!;
  await eventually("the programs listen", () => (last.said().includes(runId) ? true : null));
  expect((await stack.antiphon(["wait", runId])).code).toBe(0);
  // A message that no service can read, from the one service that may write intents: it ends as a dead letter.
  const poison = ["--nkey", join(stack.stateDir, "nats-users/gateway.nk"), "pub"];
  const sent = await run(
    `${TOOLS}/nats`,
    ["--server", stack.ready.nats, ...poison, "antiphon.v1.run.0.intent.run_poison.-.0", "not a record"],
    shell(),
  );
  expect(sent).toMatchObject({ code: 0 });
  const files = await run("bash", ["-c", "nats object ls ANT_EVIDENCE_FILES --names"], shell());
  file = files.stdout.split("\n")[0] ?? "";
});
afterAll(async () => {
  for (const one of following) await one.end();
  project.remove();
  rmSync(dir, { recursive: true, force: true });
  await stack.stop();
});

describe("docs/guides/nats-cli.md", () => {
  test("has at least 20 tasks, each with a command and an expectation here", () => {
    expect(TASKS.length).toBeGreaterThanOrEqual(20);
    expect(TASKS.map(({ title }) => title).sort()).toEqual(
      [...Object.keys(FOLLOWING), ...Object.keys(SHOWN)].sort(),
    );
    for (const { title, script } of TASKS) expect(script, title).toContain("nats ");
  });

  test.each(Object.entries(FOLLOWING))("%s", async (title, wanted) => {
    const one = following.find((task) => task.title === title)!;
    await eventually(`${title}: ${one.said()}`, () => (wanted(runId).test(one.said()) ? true : null));
  });

  test.each(TASKS.filter(({ title }) => title in SHOWN))("$title", async ({ title, script }) => {
    const wanted = SHOWN[title]!(runId);
    // A reader may be early: the router gives a message up after a moment, and under load a list is empty at times.
    const deadline = Date.now() + 20_000;
    const ended = await eventually(title, async () => {
      const result = await run("bash", ["-o", "pipefail", "-ec", filled(script)], shell());
      const isShown = result.code === 0 && wanted.test(result.stdout);
      return isShown || Date.now() > deadline ? result : null;
    });
    expect(ended, ended.stdout).toMatchObject({ code: 0 });
    expect(ended.stdout).toMatch(wanted);
    if (title.startsWith("Take a file")) expect(ended.stdout).toContain(file);
  });
});
