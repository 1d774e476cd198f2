/**
 * `npm run agents:lock -- <pack>`: makes the locks of a pack of `agents/` again, after its `npm` or `pip` has changed. npm resolves what
 * the pack needs for all platforms, with the Node of the sandbox image. pip resolves what the pack needs
 * for each Python and platform below, all with the same versions, and nothing is installed. A platform for which there is no such set
 * is left out and named. For pip it needs a Python with pip, asks the index that pip is set to, and takes a minute a platform.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { validate } from "@antiphon/contracts";
import { completePack } from "@antiphon/contracts/runs/pack-files";
import { parse } from "yaml";
import { npmLockText } from "./agents-lock/npm-lock-text.ts";
import { lockText, pinsOf, type PipReport, type Resolved } from "./agents-lock/lock-text.ts";

const PYTHONS = ["3.11", "3.12", "3.13"];
const GLIBC = Array.from({ length: 32 }, (_, minor) => `manylinux_2_${minor + 5}`);
const PLATFORMS = [
  {
    name: "glibc x86_64",
    machine: "x86_64",
    tags: ["manylinux1", "manylinux2010", "manylinux2014", ...GLIBC],
  },
  { name: "glibc aarch64", machine: "aarch64", tags: ["manylinux2014", ...GLIBC] },
  { name: "musl x86_64", machine: "x86_64", tags: ["musllinux_1_1", "musllinux_1_2"] },
];
const RESOLVE = resolve(import.meta.dirname, "agents-lock/resolve.py");

const [name] = process.argv.slice(2);
if (name === undefined) throw new Error("npm run agents:lock -- <pack>");
const folder = resolve(import.meta.dirname, "../agents", name);
const read = validate("AgentPack", parse(readFileSync(join(folder, "agent.yaml"), "utf8")));
if (!read.ok) throw new Error(`agents/${name}/agent.yaml is no pack: ${JSON.stringify(read.errors[0])}`);
const pack = read.value;
const { npm = [], npm_lock, pip = [], lock } = pack.install ?? {};
const texts = new Map<string, string>();
const scratch = mkdtempSync(join(tmpdir(), "antiphon-lock-"));
try {
  if (npm.length > 0 && npm_lock !== undefined) texts.set(npm_lock, npmLockText(npm, scratch));
  if (pip.length > 0 && lock !== undefined) {
    execFileSync("python3", ["-I", RESOLVE, "3.11", "x86_64", "--version"], { stdio: "inherit" });
    texts.set(lock, lockText(pip, resolved()));
  }
  if (texts.size === 0)
    throw new Error(`agents/${name}/agent.yaml names no packages with an "npm_lock" or a "lock" for them`);
  completePack(pack, (file) => Buffer.from(texts.get(file) ?? readFileSync(join(folder, file)))); // They have to fit.
  for (const [file, text] of texts) {
    writeFileSync(join(folder, file), text);
    process.stdout.write(`agents/${name}/${file}: ${text.length} bytes\n`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function resolved(): Resolved[] {
  const found: Resolved[] = [];
  const constraints = join(scratch, "constraints.txt");
  writeFileSync(constraints, "");
  for (const python of PYTHONS)
    for (const { name: platform, machine, tags } of PLATFORMS) {
      const report = reportOf(python, machine, tags, constraints);
      const said = typeof report === "string" ? `left out: ${report}` : `${report.install.length} packages`;
      process.stdout.write(`CPython ${python}, ${platform}: ${said}\n`);
      if (typeof report === "string") continue;
      found.push({ python, platform, report });
      const pins = new Set(found.flatMap((one) => pinsOf(one.report)));
      writeFileSync(constraints, [...pins, ""].join("\n"));
    }
  if (found.length === 0) throw new Error("pip found no set of packages for any platform");
  return found;
}

/** A text: why there is none. */
function reportOf(
  python: string,
  machine: string,
  tags: readonly string[],
  constraints: string,
): PipReport | string {
  const report = join(scratch, "report.json");
  const { status, stderr } = spawnSync(
    "python3",
    [
      ...["-I", RESOLVE, python, machine, "install", "--dry-run", "--ignore-installed", "--quiet"],
      ...["--disable-pip-version-check", "--only-binary", ":all:", "--implementation", "cp"],
      ...["--python-version", python, "--abi", `cp${python.replace(".", "")}`],
      ...tags.flatMap((tag) => ["--platform", `${tag}_${machine}`]),
      ...["--constraint", constraints, "--target", join(scratch, "none"), "--report", report, ...pip],
    ],
    { encoding: "utf8" },
  );
  if (status === 0) return JSON.parse(readFileSync(report, "utf8")) as PipReport;
  return stderr.trim().split("\n").at(-1) ?? "pip failed";
}
