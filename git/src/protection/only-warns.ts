/**
 * Whether a comparison with the clock decides about nothing but a warning: `if (Date.now() >= Date.UTC(2031, 0)) console.warn("old")`.
 * After that date the source does what it does today, and says so. Pure.
 *
 * It is narrow, because what is let pass here is looked at by nobody: the condition is the comparison alone, the branch calls
 * nothing but the language's own warning with literal words, there is no other branch, and no source of the change takes
 * warnings over, for that could make one act. A logger or a function of the project may do anything, so neither counts.
 */
interface Dialect {
  readonly files: RegExp;
  /** The calls that only warn, as statements. */
  readonly warning: string;
  /** What makes a warning do something else. */
  readonly taken: RegExp;
  readonly block: "braces" | "indent" | "end";
}

const TEXT = `(?:"(?:[^"\\\\\\n]|\\\\.){0,400}"|'(?:[^'\\\\\\n]|\\\\.){0,400}')`;
const TEXT_OF_JS = `(?:${TEXT}|\`[^\`$\\\\]{0,400}\`)`;
const SAID = `${TEXT_OF_JS}(?:\\s*\\+\\s*${TEXT_OF_JS}){0,8}`;
const OPTIONS = `\\{(?:\\s*\\w+:\\s*${TEXT}\\s*,?){0,4}\\s*\\}`;
/** Without `#{}`, which runs code. */
const TEXT_OF_RUBY = `(?:"(?:[^"\\\\\\n#]|\\\\.){0,400}"|'(?:[^'\\\\\\n]|\\\\.){0,400}')`;

const DIALECTS: readonly Dialect[] = [
  {
    files: /\.[mc]?[jt]sx?$/,
    warning: `(?:console\\.(?:warn|error)|process\\.emitWarning)\\(\\s*${SAID}(?:\\s*,\\s*(?:${TEXT_OF_JS}|${OPTIONS})){0,2}\\s*,?\\s*\\)\\s*;?`,
    taken:
      /\bconsole\b(?!\.(?:warn|error|log|info|debug)\()|(?<!\bprocess\.)\bemitWarning\b|\bemitWarning\b(?!\()|["'`]warning["'`]|\b(?:globalThis|global|window|self|this)\s*(?:\?\.\s*)?\[|\b(?:Reflect|eval|Function|defineProperty|defineProperties|createRequire)\b/,
    block: "braces",
  },
  {
    files: /\.pyi?$/,
    warning: `warnings\\.warn\\(\\s*${TEXT}(?:\\s*${TEXT}){0,8}(?:\\s*,\\s*(?:category\\s*=\\s*)?\\w{0,30}Warning)?(?:\\s*,\\s*stacklevel\\s*=\\s*\\d)?\\s*,?\\s*\\)`,
    taken:
      /(?<!^\s{0,40}import )\bwarnings\b(?!\.warn\()|\bwarnings\b(?=[ \t]*(?:,|as\b|=))|showwarning|formatwarning|PYTHONWARNINGS|warnoptions|\b(?:setattr|globals|vars|eval|exec|__dict__|__import__|import_module|monkeypatch)\b|except[^\n:]{0,80}Warning|class\s+\w{0,60}Warning\b/m,
    block: "indent",
  },
  {
    files: /\.go$/,
    warning: `log\\.Print(?:ln|f)?\\(\\s*${TEXT}\\s*\\)`,
    taken: /(?<!["])\blog\b(?!\.Print(?:ln|f)?\()|\bos\.Stderr\b|\blog\s*:?=/,
    block: "braces",
  },
  {
    files: /\.(?:rb|rake)$/,
    warning: `(?:Kernel\\.)?warn(?:\\s+${TEXT_OF_RUBY}|\\(\\s*${TEXT_OF_RUBY}\\s*\\))`,
    taken:
      /\bdef\s+(?:self\.)?warn\b|:warn\b|\bWarning\b|\$stderr|\b(?:define_method|alias|alias_method|\w+_eval|prepend|refine|send|public_send|method_missing)\b/,
    block: "end",
  },
  {
    files: /\.java$/,
    warning: `System\\.err\\.println\\(\\s*${TEXT}\\s*\\)\\s*;`,
    taken: /\bsetErr\b|\bclass\s+System\b|\bSystem\s+\w+\s*[=;]/,
    block: "braces",
  },
];

const MOST_LINES = 12;
/** Nothing but the comparison, whose clock may be of a module. */
const CONDITION = /\bif\b[\s(]*(?:\w{1,30}\.){0,3}$/;

/** A source that takes over what warnings do, so that a warning of its change may do anything. */
export function takesWarnings(path: string, text: string): boolean {
  return dialectOf(path)?.taken.test(text) === true;
}

/**
 * @param at the index of the line with the comparison
 * @param comparison where the comparison begins and ends in that line
 */
export function onlyWarns(
  path: string,
  lines: readonly string[],
  at: number,
  comparison: readonly [begin: number, end: number],
): boolean {
  const dialect = dialectOf(path);
  if (dialect === null) return false;
  const line = lines[at] ?? "";
  const [before, after] = [line.slice(0, comparison[0]), line.slice(comparison[1])];
  const warnings = new RegExp(`^\\s*(?:${dialect.warning}\\s*){1,4}$`);
  if (dialect.block === "end" && warnings.test(before.replace(CONDITION, "")))
    return CONDITION.test(before) && /^["')\]\s]*$/.test(after);
  if (!CONDITION.test(before) || !/^\s*if\b/.test(before)) return false;
  const branch = BRANCH_OF[dialect.block](after, lines.slice(at + 1, at + 2 + MOST_LINES), indentOf(line));
  return branch !== null && !/^\s*(?:else|elif|elsif)\b/.test(branch.next) && warnings.test(branch.body);
}

interface Branch {
  readonly body: string;
  /** The next line that is not blank. */
  readonly next: string;
}

type BranchOf = (after: string, rest: readonly string[], indent: number) => Branch | null;

const BRANCH_OF: Readonly<Record<Dialect["block"], BranchOf>> = {
  braces(after, rest) {
    const [, open = "", own = ""] = /^["'`)\]\s]*(\{?)\s*(.*)$/.exec(after) ?? [];
    if (open === "") return own === "" ? one(rest) : { body: own, next: firstOf(rest) };
    const closed = /^(.*?)\}\s*$/.exec(own);
    if (closed !== null) return { body: closed[1] ?? "", next: firstOf(rest) };
    const end = rest.findIndex((line) => line.trim().startsWith("}"));
    if (end === -1 || rest[end]?.trim() !== "}") return null;
    return { body: [own, ...rest.slice(0, end)].join("\n"), next: firstOf(rest.slice(end + 1)) };
  },
  indent(after, rest, indent) {
    const [, own = null] = /^["')\]\s]*:\s*(.*)$/.exec(after) ?? [];
    if (own === null) return null;
    if (own !== "") return { body: own, next: firstOf(rest) };
    const end = rest.findIndex((line) => line.trim() !== "" && indentOf(line) <= indent);
    if (end === -1 && rest.length > MOST_LINES) return null;
    const inside = end === -1 ? rest : rest.slice(0, end);
    return { body: inside.join("\n"), next: end === -1 ? "" : (rest[end] ?? "") };
  },
  end(after, rest) {
    if (!/^["')\]\s]*$/.test(after)) return null;
    const end = rest.findIndex((line) => /^\s*(?:end|else|elsif)\b/.test(line));
    if (end === -1 || rest[end]?.trim() !== "end") return null;
    return { body: rest.slice(0, end).join("\n"), next: "" };
  },
};

/** A branch of one statement without braces, in the next line. */
function one([first = "", ...rest]: readonly string[]): Branch {
  return { body: first, next: firstOf(rest) };
}

const firstOf = (lines: readonly string[]): string => lines.find((line) => line.trim() !== "") ?? "";

const indentOf = (line: string): number => /^\s*/.exec(line)?.[0].length ?? 0;

function dialectOf(path: string): Dialect | null {
  return DIALECTS.find(({ files }) => files.test(path)) ?? null;
}
