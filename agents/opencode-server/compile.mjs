// The agent `opencode-server`: reads an OCCompileInput, has OpenCode do the work in the work tree, and leaves the request and
// the OCCompileOutput in the file that ANTIPHON_COMPILE_FILE names. Each line of its output is one event as JSON. With `--continue`
// it reads the answer to the question with which it ended, and goes on in the session of that file.
//
// It exits with 0 when the output is kept or a question is left, and with 1 when the model refused, or OpenCode could not be had.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { OpenCodeClient } from "./client.mjs";
import { Kept } from "./kept.mjs";
import { OpenCodeServer } from "./server.mjs";

const run = promisify(execFile);
const PLAN_FILE = "plan.yaml";
/** Of the task's time: the rest is for its checks. */
const SHARE_OF_TIME = 0.85;
/** Nothing happens for so long only if OpenCode has lost its turn. A model may think for minutes. */
const QUIET_S = 600;
/** OpenCode takes about 600 MiB from its first call on. The sandbox has 4096 by default, for its commands as well. */
const MOST_MIB = 1536;

async function main(env, root) {
  const startMs = Date.now();
  const { task } = JSON.parse(env.ANTIPHON_TASK ?? "{}");
  if (task === undefined) throw new Error("ANTIPHON_TASK holds no task");
  const told = readFileSync(0, "utf8");
  const isPlanning = task.return.artifacts.includes(PLAN_FILE);
  let base = "";
  const held = env.OPENCODE_PURE ? ["sh", `${import.meta.dirname}/held.sh`] : [];
  const program = [...held, "opencode"];
  const server = new OpenCodeServer({ program, env: { ...env, ...ownPlaces(env.HOME) }, root });
  const client = new OpenCodeClient({
    ...{ server, say, model: env.OPENCODE_MODEL, kept: new Kept(env.ANTIPHON_COMPILE_FILE) },
    untilMs: startMs + task.time_budget_s * 1000 * SHARE_OF_TIME,
    quietMs: Number(env.OPENCODE_QUIET_S || QUIET_S) * 1000,
    mostMib: Number(env.OPENCODE_MOST_MIB) || MOST_MIB,
    hasAsked: () => sizeOf(env.ANTIPHON_QUESTION_FILE) > 0,
    isPlanning,
    resetTo: () => run("git", ["reset", "--quiet", "--soft", base], { cwd: root }),
  });
  try {
    base = await headOf(root);
    const goesOn = process.argv.includes("--continue");
    const output = await (goesOn ? client.goOn(told) : client.compile(JSON.parse(told)));
    if (output === null) {
      say({ event: "question" });
      return 0;
    }
    const { plan, patch, tests } = output;
    if (plan !== null && isPlanning && !(await isWritten(root, PLAN_FILE)))
      writeFileSync(`${root}/${PLAN_FILE}`, `${JSON.stringify(plan, null, 2)}\n`); // JSON is YAML.
    say({ event: "result", files: patch.files.length, nodes: plan?.nodes?.length ?? 0, tests });
    return 0;
  } catch (error) {
    say({ event: "failed", why: error.message });
    process.stderr.write(`${error.message}\n`);
    return 1;
  } finally {
    await server.stop();
  }
}

async function headOf(root) {
  try {
    return (await run("git", ["rev-parse", "HEAD"], { cwd: root })).stdout.trim();
  } catch (error) {
    const why = `it needs the git repository in its sandbox (not --history 0): ${error.message}`;
    throw new Error(why, { cause: error });
  }
}

/** 0: there is no such file. */
function sizeOf(path) {
  return path === undefined ? 0 : (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
}

/** The model may have written the plan itself, as it was told to, also before it asked a question. */
async function isWritten(root, path) {
  const words = ["status", "--porcelain", "--ignored", "--", path];
  return (await run("git", words, { cwd: root })).stdout !== "";
}

/** Its sessions and settings are those of this attempt. */
function ownPlaces(home) {
  const place = (name) => {
    const path = `${home}/.opencode-server/${name}`;
    mkdirSync(path, { recursive: true });
    return path;
  };
  return {
    XDG_DATA_HOME: place("data"),
    XDG_CONFIG_HOME: place("config"),
    XDG_STATE_HOME: place("state"),
    XDG_CACHE_HOME: place("cache"),
  };
}

function say(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

if (process.argv.includes("--version")) say({ program: "opencode-server" });
else process.exitCode = await main(process.env, process.cwd());
