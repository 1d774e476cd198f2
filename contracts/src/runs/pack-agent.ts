/**
 * From an agent pack to the agent of a run: the commands that install it, its words and variables with the chosen model.
 * The result is complete, so no service has to know the pack, and a run can be repeated after the pack has changed. Pure.
 */
import { SANDBOX_HOME } from "../rpc/environment.ts";
import type { AgentPack } from "../settings/agent-pack.ts";
import type { AgentOf } from "./agents.ts";
import { LAUNCHERS, OWN_LIBC, OWN_PYTHON } from "./pack-programs.ts";
import { RESUME, withResume } from "./pack-resume.ts";

export interface PackChoice {
  readonly model?: string | undefined;
  readonly modelHost?: string | undefined;
  /** Of an agent that compiles. */
  readonly seed?: string | undefined;
}

/** The directory of an installed pack, below the home directory of the sandbox. */
const PLACE = `${SANDBOX_HOME}/.agent`;
/** Installing starts here and not in the work tree, whose files (`.npmrc`) could change what is installed. */
const AT_HOME = `mkdir -p ${PLACE} && cd ${PLACE} &&`;

const NPM = `${AT_HOME} npm install --global --prefix ${PLACE}`;
/** Where Node looks for the installed packages of a program. */
const FILES = `${PLACE}/lib`;
/** The Node of a pack with a lock. It is not in PATH, where the commands of the agent would find it before the image's. */
const NODE = `${PLACE}/runtime/node`;
const NODE_STARTS = `${NODE} --version || { echo "the Node of the agent does not start in this image; where the standard image is not one of Debian or Ubuntu, the image of a run needs glibc 2.28 or newer and the C++ library" >&2; exit 1; }`;
const FILE = /^mkdir -p lib && echo [A-Za-z0-9+/=]+ \| base64 -d \| gzip -d >>? lib\/[A-Za-z0-9][\w.-]*$/;
const PIP = `${AT_HOME} python3 -m venv python && python/bin/pip install --quiet`;
const LOCKED = `${PIP} --require-hashes --only-binary :all: -r lib/`;
/** Between the name of the lock and those of the pack's own packages. */
const OWNED = ` && python/bin/python3 -I -c ${quoted(OWN_PYTHON)} ${PLACE}`;
const LOCK = /^[A-Za-z0-9][\w.-]*$/;
const PACKAGES = /^( [A-Za-z0-9][\w.-]*)+$/;
/** The Python of a pack with a lock. It is not in PATH either. */
const PYTHON = `${PLACE}/python/bin/python3`;
const PYTHON_STARTS = `${PYTHON} -I -c "import ssl" || { echo "the Python of the agent does not start in this image" >&2; exit 1; }`;
/** Into the directory of its lock, which the commands before have written. */
const NODE_RUNS = "node --input-type=module -e";
const NPM_LOCKED = `${AT_HOME} npm ci --prefix lib && ${NODE_RUNS} ${quoted(OWN_LIBC)} ${PLACE} && ${NODE_RUNS} ${quoted(LAUNCHERS)} ${PLACE}`;
const NPM_PACKAGE = /^(@[\w.~-]+\/)?[\w.~-]+@\d[\w.+-]*$/;
const PIP_PACKAGE = /^'[\w.-]+(\[[\w.,-]+\])?==\d[\w.+!-]*'$/;

/** The command that writes one of the pack's own files, or its next part. `content` is compressed, in base64. */
export function fileCommand(name: string, content: string, isNextPart = false): string {
  return `mkdir -p lib && echo ${content} | base64 -d | gzip -d ${isNextPart ? ">>" : ">"} lib/${name}`;
}

export function packAgent(pack: AgentPack, choice: PackChoice = {}): AgentOf<"pack"> {
  const name = choice.model ?? pack.model?.name ?? "";
  const host = choice.modelHost ?? pack.model?.host ?? "";
  const filled = (text: string): string =>
    text.replaceAll("${files}", FILES).replaceAll("${model}", name).replaceAll("${model_host}", host);
  const { npm, npm_lock, pip, lock, commands } = pack.install ?? {};
  const started = (argv: readonly string[]): string[] =>
    argv.map((word, at) => {
      if (at === 0 && word === "node" && npm_lock !== undefined) return NODE;
      if (at === 0 && /^python3?$/.test(word) && lock !== undefined) return PYTHON;
      return filled(word);
    });
  const env = Object.entries(pack.env ?? {}).map(([name, value]) => [name, filled(value)] as const);
  return {
    kind: "pack",
    name: pack.name,
    install: [
      ...(npm === undefined || npm_lock !== undefined ? [] : [`${NPM} ${npm.join(" ")}`]),
      ...(pip === undefined || lock !== undefined ? [] : [`${PIP} ${pip.map(quoted).join(" ")}`]),
      ...(commands ?? []).map((command) => `${AT_HOME} ${command}`),
      ...(npm_lock === undefined ? [] : [NPM_LOCKED]), // After the commands that write the locks.
      ...(lock === undefined ? [] : [`${LOCKED}${lock}${OWNED} ${(pip ?? []).map(nameOf).join(" ")}`]),
    ],
    tools: [
      ...(npm === undefined ? [] : ["npm"]),
      ...(pip === undefined ? [] : ["python3"]),
      ...(lock === undefined ? [] : ["ldd"]),
      ...(commands?.some((command) => FILE.test(command)) === true ? ["base64", "gzip"] : []),
    ],
    path: [`${PLACE}/bin`, ...(pip === undefined || lock !== undefined ? [] : [`${PLACE}/python/bin`])],
    argv: started(pack.argv.filter((word) => word !== RESUME)),
    prompt: pack.prompt,
    ...(choice.seed === undefined ? {} : { seed: choice.seed }),
    env: Object.fromEntries(env),
    junk: [...(pack.junk ?? [])],
    ...(name === "" || host === "" ? {} : { model: { host, name } }),
    ...(pack.needs === undefined ? {} : { needs: [...pack.needs] }),
    ...(pack.transcript === undefined ? {} : { transcript: pack.transcript }),
    ...(pack.usage === undefined ? {} : { usage: pack.usage }),
    ...(pack.asks === undefined ? {} : { asks: pack.asks }),
    ...(pack.resume === undefined ? {} : { resume: started(withResume(pack.argv, pack.resume)) }),
    ...(pack.hears === true ? { hears: true } : {}),
    ...(pack.honours_tools === true ? { honours_tools: true } : {}),
    ...(pack.task_tools === undefined ? {} : { task_tools: pack.task_tools }),
  };
}

/** The command that shows whether an installed agent can run in another image; null: it needs programs of that image. */
export function startsAnywhere(install: readonly string[]): string | null {
  if (!install.every(isPinnedInstall)) return null;
  const hasNode = install.includes(NPM_LOCKED);
  const hasPython = install.some(isLockedPython);
  const needsMore = install.some(
    (command) => command.startsWith(`${NPM} `) || (command.startsWith(`${PIP} `) && !isLockedPython(command)),
  );
  if (needsMore || !(hasNode || hasPython)) return null;
  return [...(hasNode ? [NODE_STARTS] : []), ...(hasPython ? [PYTHON_STARTS] : [])].join(" && ");
}

function isLockedPython(command: string): boolean {
  if (!command.startsWith(LOCKED)) return false;
  const [lock = "", packages = "", ...more] = command.slice(LOCKED.length).split(OWNED);
  return LOCK.test(lock) && PACKAGES.test(packages) && more.length === 0;
}

/** `a` of `a[b]==1.0`. */
function nameOf(requirement: string): string {
  return requirement.replace(/(\[.*)?==.*$/, "");
}

/** A word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** True for a command that installs pinned packages or writes a given file, and reads nothing of the work tree. */
export function isPinnedInstall(command: string): boolean {
  if (command.startsWith(`${AT_HOME} `) && FILE.test(command.slice(AT_HOME.length + 1))) return true;
  if (command === NPM_LOCKED) return true;
  if (command.startsWith(LOCKED)) return isLockedPython(command);
  for (const [start, one] of [
    [NPM, NPM_PACKAGE],
    [PIP, PIP_PACKAGE],
  ] as const) {
    if (!command.startsWith(`${start} `)) continue;
    return command
      .slice(start.length + 1)
      .split(" ")
      .every((word) => one.test(word));
  }
  return false;
}
