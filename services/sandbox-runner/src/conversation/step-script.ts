/**
 * Encodes a command for a supervisor: NUL-separated for the sealed one, a shell script for the plain one. Either puts the
 * image's bash, or its sh, in the place of an empty SHELL.
 */
export interface StepText {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export type SupervisorKind = "perl" | "sh";

/**
 * Null when the command cannot be encoded: a NUL inside an argument, no argument at all, or an invalid variable name.
 */
export function encodeStep(kind: SupervisorKind, step: StepText): Buffer | null {
  const env = Object.entries(step.env);
  const words = [step.cwd, ...step.argv, ...env.flat()];
  const encodable = step.argv.length > 0 && words.every((word) => !word.includes("\0"));
  if (!encodable || env.some(([name]) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))) return null;
  const pairs = env.map(([name, value]) => `${name}=${value}`);
  if (kind === "perl") {
    return Buffer.from([step.cwd, String(step.argv.length), ...step.argv, ...pairs].join("\0"), "utf8");
  }
  const isOpen = step.env["SHELL"] === "";
  const variables = pairs.map((pair) => (pair === "SHELL=" ? '"SHELL=$SHELL"' : quote(pair)));
  const command = ["exec", "env", "-i", ...variables, ...step.argv.map(quote)].join(" ");
  const lines = [`cd ${quote(step.cwd)} || exit 126`, ...(isOpen ? [FIND_SHELL] : []), command];
  return Buffer.from(lines.map((line) => `${line}\n`).join(""), "utf8");
}

const FIND_SHELL = "SHELL=/bin/sh; [ -x /bin/bash ] && SHELL=/bin/bash";

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

export interface Hello {
  readonly kind: SupervisorKind;
  readonly sealed: boolean;
  readonly landlock: number;
}

export function parseHello(text: string): Hello | null {
  const match = /^(perl|sh) sealed=([01]) landlock=(\d+)$/.exec(text);
  if (match === null) return null;
  return { kind: match[1] === "perl" ? "perl" : "sh", sealed: match[2] === "1", landlock: Number(match[3]) };
}

export interface ExitWord {
  readonly exitCode: number;
  readonly signal: number;
  readonly oomKills: number;
  readonly pidsRefused: number;
  readonly freeBytes: number;
  readonly freeInodes: number;
}

export function parseExit(text: string): ExitWord | null {
  const numbers = text.split(" ").map(Number);
  const [code, signal, oomKills, pidsRefused, freeBytes, freeInodes] = numbers;
  if (numbers.length !== 6 || !numbers.every(Number.isSafeInteger)) return null;
  return {
    // A death by signal is reported as a shell reports it.
    exitCode: (signal ?? 0) > 0 ? 128 + (signal ?? 0) : (code ?? 0),
    signal: signal ?? 0,
    oomKills: oomKills ?? 0,
    pidsRefused: pidsRefused ?? 0,
    freeBytes: freeBytes ?? -1,
    freeInodes: freeInodes ?? -1,
  };
}
