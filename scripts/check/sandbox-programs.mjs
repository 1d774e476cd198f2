// Checks the programs that run inside sandboxes, and the launcher of processes: perl's own parser and perlcritic over the Perl
// programs (those of sandboxes joined), shellcheck over the shell, Python's own parser over the one that installs packs. Usage: node scripts/check/sandbox-programs.mjs. Needs perl, perlcritic and shellcheck.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../../git/src/process/launcher.pl", import.meta.url));
const PYTHON = fileURLToPath(new URL("../../contracts/pack-programs/own-python.py", import.meta.url));
const FOLDER = fileURLToPath(new URL("../../services/sandbox-runner/src/supervisor/", import.meta.url));

/** A program's parts, in the order in which its TypeScript file joins them. */
function partsOf(file) {
  return [...readFileSync(join(FOLDER, file), "utf8").matchAll(/"([a-z]+\/[a-z]+\.(?:pl|sh))"/g)].map(
    (m) => m[1],
  );
}

/** Each part states its first line, because line numbers would otherwise refer to the joined text. */
function joined(parts, declarations) {
  const texts = parts.map((part) => `# line 1 "${part}"\n${readFileSync(join(FOLDER, part), "utf8")}`);
  return `use strict; use warnings; ${declarations}\n${texts.join("")}`;
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (error?.code === "ENOENT") return `${command} is not installed: npm run setup -- --for-tests`;
  if (error !== undefined) return `${command}: ${error.message}`;
  return status === 0 ? null : `${stdout}${stderr}`.trimEnd();
}

function perlComplaints(program) {
  const profile = join(FOLDER, "perlcriticrc");
  const critic = ["--quiet", "--profile", profile, "--verbose", "%f:%l: %m (%p)\\n", program];
  return [run("perl", ["-c", program]), run("perlcritic", critic)];
}

const aside = mkdtempSync(join(tmpdir(), "antiphon-programs-"));
const complaints = [];
try {
  for (const [file, declarations] of [
    ["sealed-supervisor.ts", ""],
    ["guest.ts", "our %o;"],
  ]) {
    const program = join(aside, `${file}.pl`);
    writeFileSync(program, joined(partsOf(file), declarations));
    complaints.push(...perlComplaints(program));
  }
  complaints.push(...perlComplaints(LAUNCHER));
  const scripts = partsOf("plain-supervisor.ts").map((part) => join(FOLDER, part));
  complaints.push(run("shellcheck", ["-s", "sh", ...scripts]));
  const parsed = "import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])";
  complaints.push(run("python3", ["-c", parsed, PYTHON]));
} finally {
  rmSync(aside, { recursive: true, force: true });
}
const found = complaints.filter((complaint) => complaint !== null);
if (found.length > 0) console.log(found.join("\n"));
process.exitCode = found.length === 0 ? 0 : 1;
