#!/usr/bin/env node
// Lets schemathesis look for requests that the gateway answers otherwise than its /openapi.json says. Starts an `antiphon dev` of its
// own. Its program is named by ANTIPHON_TEST_SCHEMATHESIS, or lies below .antiphon/tools or on PATH. Set-up does not install this Python program. If it is
// missing, the script says so and fails only in CI.
// Usage: npm run schemathesis [-- <further options of schemathesis>]
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { argv, env, execPath, exit } from "node:process";

const ROOT = path.resolve(import.meta.dirname ?? path.dirname(argv[1] ?? ""), "..");
const OWN = path.join(ROOT, ".antiphon/tools/schemathesis/bin/schemathesis");
const VERSION = "4.32.5";
const program = env["ANTIPHON_TEST_SCHEMATHESIS"] || (existsSync(OWN) ? OWN : "schemathesis");

if (spawnSync(program, ["--version"]).status !== 0) {
  const venv = ".antiphon/tools/schemathesis";
  console.error(`unavailable: ${program} does not run, so nothing was checked. It comes with
  python3 -m venv ${venv} && ${venv}/bin/pip install schemathesis==${VERSION}`);
  exit(env["CI"] === undefined ? 0 : 1);
}

const directory = mkdtempSync(path.join(tmpdir(), "antiphon-schemathesis-"));
const antiphon = (...args) =>
  spawnSync(execPath, [path.join(ROOT, "bin/antiphon.mjs"), ...args, "--state-dir", directory], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
let code;
try {
  const ports = ["--port", "0", "--nats-port", "0"];
  const started = antiphon("dev", "--background", ...ports, "--json");
  if (started.status !== 0) throw new Error(`antiphon dev did not start: ${started.stdout}`);
  const { gateway } = JSON.parse(started.stdout);
  const options = ["--max-examples", "15", "--continue-on-failure", "--no-color", ...argv.slice(2)];
  const config = ["--config-file", path.join(ROOT, "scripts/schemathesis.toml")];
  const run = spawnSync(program, [...config, "run", `${gateway}/openapi.json`, ...options], {
    cwd: directory,
    stdio: "inherit",
  });
  code = run.status ?? 1;
} finally {
  antiphon("dev", "--stop");
  rmSync(directory, { recursive: true, force: true });
}
exit(code);
