#!/usr/bin/env node
/**
 * `npm run demo`: the main job from nothing to a landed commit. Every part is real except the model's answer, which is
 * replayed from a recording, because there is no account or key to ask a model.
 *
 * It sets up what is missing, creates a small git repository with a failing test, starts all services and a nats-server on
 * free loopback ports, hands in the intent, and stops everything again.
 */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const GOAL = "Fix the failing date parser: it refuses 29 February in leap years";
const SEED = "demo";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const home = join(root, ".antiphon", "demo");
const repo = join(home, "date-parser");
const antiphon = join(root, "bin", "antiphon.mjs");
/** The Node that set-up brings; the one that runs this script may be older. */
const ownNode = join(root, "node_modules/.bin/node");
const recording = join(root, "examples", "date-parser.recording.json");

const here = (path) => relative(process.cwd(), path) || ".";
const node = () => (existsSync(ownNode) ? ownNode : process.execPath);
const heading = (text) => console.log(`\n== ${text}`);

function must(command, args, options = {}) {
  const run = spawnSync(command, args, { encoding: "utf8", ...options });
  if (run.status !== 0) throw new Error(`${command} ${args.join(" ")} failed\n${run.stderr ?? ""}`);
  return run.stdout ?? "";
}

function git(...args) {
  const identity = [
    "-c",
    "user.name=Antiphon demo",
    "-c",
    "user.email=demo@localhost",
    "-c",
    "commit.gpgsign=false",
  ];
  return must("git", ["-C", repo, ...identity, ...args]);
}

function makeRepository() {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  cpSync(join(root, "examples", "date-parser"), repo, { recursive: true });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message", "A date parser that does not know leap years");
}

/** Starts the services and resolves with the gateway's address once all of them are ready. */
function startServices() {
  const args = [
    antiphon,
    "dev",
    "--port",
    "0",
    "--nats-port",
    "0",
    "--state-dir",
    join(home, "state"),
    "--json",
  ];
  const child = spawn(node(), args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
  const ready = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const event = JSON.parse(line);
      if (event.event === "ready") resolve(event);
    });
    void exited.then((code) =>
      reject(new Error(`the services stopped before they were ready (exit ${code})`)),
    );
  });
  return { child, exited, ready };
}

function cli(env, ...args) {
  return new Promise((resolve) => {
    const child = spawn(node(), [antiphon, ...args], {
      stdio: "inherit",
      env: { ...process.env, ...env },
    });
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

async function main() {
  const started = performance.now();
  heading("Set-up");
  must(process.execPath, [join(root, "setup", "main.mjs")], { stdio: "inherit" });

  const job = performance.now();
  heading("A repository with a failing test");
  makeRepository();
  console.log(`${here(repo)} at ${git("rev-parse", "--short", "HEAD").trim()} on main`);

  const roles = JSON.parse(readFileSync(join(root, "contracts/src/roles.json"), "utf8"));
  heading(`Services: ${roles.map(({ role }) => role).join(", ")}, nats-server`);
  const services = startServices();
  const stop = () => services.child.kill("SIGTERM");
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  let code;
  try {
    const { gateway, elapsedMs } = await services.ready;
    console.log(`ready in ${(elapsedMs / 1000).toFixed(1)} s at ${gateway}`);
    const env = { ANTIPHON_GATEWAY_URL: gateway };

    heading(`antiphon run "${GOAL}"`);
    console.log("The agent replays a recorded session; the sandbox, the checks and the landing are real.\n");
    const agent = ["--agent", "replay", "--seed", SEED, "--recording", recording];
    code = await cli(env, "run", GOAL, "--repo", repo, ...agent, "--check", "npm test");
    if (code === 0) await showResult(env);
  } finally {
    stop();
    await services.exited;
  }
  const seconds = ((performance.now() - job) / 1000).toFixed(1);
  const all = ((performance.now() - started) / 1000).toFixed(1);
  heading(code === 0 ? `Done in ${seconds} s (${all} s with set-up)` : `The run did not land (exit ${code})`);
  if (code === 0) {
    console.log(`Look at it:   git -C ${here(repo)} log -p -1 antiphon/${runId()}`);
    console.log(
      `The evidence: ${here(join(home, "evidence"))} (the demo's services have ended, and no command asks them now)`,
    );
    console.log("Your turn:    npx antiphon dev");
    console.log(
      `              npx antiphon run "<intent>" --repo <path> --command "<what edits it>" --check "<what proves it>"`,
    );
  }
  process.exitCode = code;
}

function runId() {
  return git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/antiphon").trim().split("\n")[0];
}

async function showResult(env) {
  heading("What landed");
  process.stdout.write(git("log", "-1", "--stat", `antiphon/${runId()}`));
  heading("Its evidence");
  await cli(env, "evidence", "export", runId(), "--out", join(home, "evidence"));
}

try {
  await main();
} catch (error) {
  console.error(`demo: ${error.message}`);
  process.exitCode = 1;
}
