/**
 * Starts `dockerd` where no service manager does, detached in a session of its own, so that it
 * outlives set-up. Its log and pid are in `.antiphon/docker/`.
 *
 * The first start uses the engine's defaults. If it fails for a known reason, the next one uses a workaround, which is
 * reported because each has a cost.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { access, mkdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { CACHE_DIR, STATE_DIR } from "./checkout.mjs";
import { run } from "./command.mjs";
import { engineAddress, ping } from "./docker-api.mjs";
import { StepFailure } from "./step-failure.mjs";

const ENGINE = "dockerd";
const READY_MS = 60_000;
const POLL_MS = 100;
const DIRECTORY = path.join(STATE_DIR, "docker");
const LOG_FILE = path.join(DIRECTORY, "dockerd.log");
const PID_FILE = path.join(DIRECTORY, "dockerd.pid");

/** Known failures by their text in the engine's log, with their workarounds, in the order in which they are tried. */
export const WORKAROUNDS = [
  {
    name: "cgroup2",
    symptom: /cgroup.*(not mounted|isn't mounted|no such file)|failed to mount cgroup/i,
    note: "no cgroups are mounted: mounting cgroup2",
    args: /** @type {string[]} */ ([]),
  },
  {
    name: "iptables-legacy",
    symptom: /iptables.*(failed|not supported|no chain|unable)|nf_tables|failed to register "bridge" driver/i,
    note: "iptables (nft) does not work in this kernel: using iptables-legacy",
    args: [],
  },
  {
    name: "no-bridge",
    symptom: /iptables|bridge|network controller/i,
    note: "no bridge network in this kernel: containers get no network (sandboxes use none; compose does)",
    args: ["--bridge=none", "--iptables=false", "--ip6tables=false"],
  },
  {
    name: "vfs",
    symptom: /overlay|graphdriver|storage[- ]driver|error initializing/i,
    note: "overlay2 does not work on this file system: using vfs, which is slow and large",
    args: ["--storage-driver=vfs"],
  },
];

/**
 * The workaround to try next for the failure in the log, or null when none is left.
 *
 * @param {string} log
 * @param {readonly {name: string}[]} tried
 */
export function nextWorkaround(log, tried) {
  const left = WORKAROUNDS.filter((one) => !tried.some((done) => done.name === one.name));
  return left.find((one) => one.symptom.test(errorsOf(log))) ?? null;
}

/** @param {(text: string) => void} note @returns {Promise<string>} the engine's version */
export async function startDockerd(note) {
  await mkdir(DIRECTORY, { recursive: true });
  /** @type {(typeof WORKAROUNDS)[number][]} */
  const tried = [];
  for (;;) {
    const started = await attempt(tried);
    if (started.ok) return started.version;
    const log = await readFile(LOG_FILE, "utf8");
    const workaround = started.exited ? nextWorkaround(log, tried) : null;
    if (workaround === null)
      throw new StepFailure(
        `dockerd did not start: ${errorsOf(log).trim().split("\n").at(-1) ?? "its log has no error"}`,
        `read ${LOG_FILE}; any Docker engine that answers on /var/run/docker.sock or DOCKER_HOST works too`,
      );
    note(workaround.note);
    tried.push(workaround);
  }
}

/**
 * @param {readonly (typeof WORKAROUNDS)[number][]} workarounds
 * @returns {Promise<{ok: true, version: string} | {ok: false, exited: boolean}>}
 */
async function attempt(workarounds) {
  const names = workarounds.map((one) => one.name);
  if (names.includes("cgroup2")) await run("mount", ["-t", "cgroup2", "none", "/sys/fs/cgroup"]);
  const env = { ...process.env };
  if (names.includes("iptables-legacy"))
    env["PATH"] = `${await legacyIptables()}${path.delimiter}${env["PATH"] ?? ""}`;
  // The engine looks for containerd and iptables on PATH, and a user's PATH may lack the system's own.
  env["PATH"] = `${env["PATH"] ?? ""}:/usr/local/sbin:/usr/sbin:/sbin`;

  const log = openSync(LOG_FILE, "w");
  const args = ["--host=unix:///var/run/docker.sock", ...workarounds.flatMap((one) => one.args)];
  const child = spawn(ENGINE, args, { detached: true, stdio: ["ignore", log, log], cwd: "/", env });
  closeSync(log);
  let exited = false;
  child.on("exit", () => (exited = true));
  child.on("error", () => (exited = true));
  child.unref();
  if (child.pid !== undefined) writeFileSync(PID_FILE, `${child.pid}\n`);

  const deadline = Date.now() + READY_MS;
  while (!exited && Date.now() < deadline) {
    const answer = await ping(engineAddress(""));
    if (answer.ok) return { ok: true, version: answer.version };
    await delay(POLL_MS);
  }
  if (!exited) child.kill("SIGTERM");
  return { ok: false, exited };
}

/** A directory in which `iptables` is the legacy one; the system's choice is left alone. */
async function legacyIptables() {
  const directory = path.join(CACHE_DIR, "iptables-legacy");
  await mkdir(directory, { recursive: true });
  for (const name of ["iptables", "ip6tables", "iptables-save", "iptables-restore"]) {
    const target = `/usr/sbin/${name.replace("tables", "tables-legacy")}`;
    const link = path.join(directory, name);
    const missing = await access(link).then(
      () => false,
      () => true,
    );
    if (missing) await symlink(target, link);
  }
  return directory;
}

/** Only lines that the engine itself calls errors; its other lines mention bridges and overlays all the time. @param {string} log */
function errorsOf(log) {
  const lines = log.split("\n").filter((line) => /level=(error|fatal)|^failed to start daemon/.test(line));
  return lines.join("\n");
}
