// Turns a patch as people have it (a unified diff, or Patch.v0 as JSON) into a Patch.v0: one diff per file. Pure.

export interface PatchFile {
  readonly path: string;
  readonly diff: string;
}

export function splitDiff(text: string): PatchFile[] {
  const lines = text.replace(/\r\n/g, "\n").split("\n");
  const starts = lines.some((line) => line.startsWith("diff --git "))
    ? indexesOf(lines, (line) => line.startsWith("diff --git "))
    : indexesOf(lines, (line, next) => line.startsWith("--- ") && next.startsWith("+++ "));
  return starts.map((start, i) => {
    const section = lines.slice(start, starts[i + 1] ?? lines.length);
    // A binary part ends with an empty line. In any other section, trailing empty lines are not part of the diff.
    const end = section.includes("GIT binary patch") ? "\n\n" : "\n";
    return { path: pathOf(section), diff: `${withoutLastBlanks(section).join("\n")}${end}` };
  });
}

function withoutLastBlanks(lines: string[]): string[] {
  const last = lines.findLastIndex((line) => line !== "");
  return lines.slice(0, last + 1);
}

function indexesOf(lines: string[], matches: (line: string, next: string) => boolean): number[] {
  return lines.flatMap((line, i) => (matches(line, lines[i + 1] ?? "") ? [i] : []));
}

function pathOf(section: string[]): string {
  const hunk = section.findIndex((line) => line.startsWith("@@"));
  const head = hunk === -1 ? section : section.slice(0, hunk);
  const after = field(head, "+++ ");
  const before = field(head, "--- ");
  const named = after !== null && after !== "/dev/null" ? after : before;
  if (named !== null && named !== "/dev/null") return named.replace(/^[ab]\//, "");
  const renamed = field(head, "rename to ");
  return renamed ?? openingName(section[0] ?? "");
}

/** The path after the change on a `diff --git` line, quoted or plain. */
function openingName(line: string): string {
  const quoted = / ("(?:[^"\\]|\\.)+")$/.exec(line)?.[1];
  if (quoted !== undefined) return unquote(quoted).replace(/^b\//, "");
  return / b\/(.+)$/.exec(line)?.[1] ?? "";
}

function field(head: string[], prefix: string): string | null {
  const line = head.find((candidate) => candidate.startsWith(prefix));
  return line === undefined ? null : unquote(line.slice(prefix.length).split("\t", 1)[0] ?? "");
}

/** Git quotes unusual names like C strings. */
function unquote(name: string): string {
  if (!name.startsWith('"')) return name;
  const bytes: number[] = [];
  const body = name.slice(1, -1);
  const escapes: Record<string, number> = { n: 10, t: 9, r: 13, '"': 34, "\\": 92, a: 7, b: 8, f: 12, v: 11 };
  for (let i = 0; i < body.length; i++) {
    if (body[i] !== "\\") {
      bytes.push(...new TextEncoder().encode(body[i] ?? ""));
      continue;
    }
    const octal = /^[0-7]{3}/.exec(body.slice(i + 1))?.[0];
    bytes.push(octal === undefined ? (escapes[body[i + 1] ?? ""] ?? 92) : Number.parseInt(octal, 8));
    i += octal === undefined ? 1 : 3;
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
