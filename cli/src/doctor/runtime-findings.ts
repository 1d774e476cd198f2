// Lists the container runtimes that sandboxes can use here, and why the others are unavailable.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { off, ok, problem, type Finding } from "./finding.ts";

/** The engine's names for the runtimes, and their programs. */
const RUNTIMES = [
  { name: "runc", programs: ["runc"], how: "it comes with the engine" },
  {
    name: "runsc",
    programs: ["runsc"],
    how: "apt-get install runsc, and add it to the engine's daemon.json with runtimeArgs --network=none",
  },
  {
    name: "kata",
    programs: ["kata-runtime", "containerd-shim-kata-v2"],
    how: "install Kata Containers and add it to the engine's daemon.json as kata",
  },
] as const;

/** `info`: the engine's answer to GET /info, or null if no engine answers. */
export function runtimeFindings(info: unknown, env: { readonly PATH: string }, chosen: string): Finding[] {
  const known = Object.keys((info as { Runtimes?: Record<string, unknown> } | null)?.Runtimes ?? {});
  return RUNTIMES.map(({ name, programs, how }) => {
    const label = `runtime ${name}`;
    if (known.includes(name))
      return ok(label, `${name === chosen ? "available, chosen" : "available"}${caveat(name, env)}`);
    const say = name === chosen ? problem : off;
    return say(label, `unavailable: ${whyNot(name, programs, info, env)}`, how);
  });
}

/** Warns of a known defect in Debian 12's release (services/sandbox-runner/README.md, Runtimes). */
function caveat(name: string, env: { readonly PATH: string }): string {
  const program = name === "runsc" ? onPath("runsc", env) : null;
  if (program === null) return "";
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8", timeout: 5_000 });
  if (!/20221219/.test(stdout ?? "")) return "";
  return "; release 20221219 refuses statx as coreutils 9 asks it: `ls -l` and `stat` fail inside";
}

function whyNot(
  name: string,
  programs: readonly string[],
  info: unknown,
  env: { readonly PATH: string },
): string {
  if (info === null) return "no engine answers";
  const found = programs.map((program) => onPath(program, env)).find((path) => path !== null);
  if (name === "kata" && !opens("/dev/kvm")) return "this machine has no /dev/kvm that can be opened";
  if (found === undefined) return `no ${programs.join(" or ")} on this machine, and the engine knows none`;
  return `${found} is there, but the engine does not know it`;
}

function onPath(program: string, env: { readonly PATH: string }): string | null {
  const paths = env.PATH.split(delimiter).map((directory) => join(directory, program));
  return paths.find((path) => allows(path, constants.X_OK)) ?? null;
}

const opens = (path: string): boolean => allows(path, constants.R_OK | constants.W_OK);

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false; // Absent and forbidden count the same.
  }
}
