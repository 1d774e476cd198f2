/** The rules of one `.gitignore`. */
import { tokensOf, type Token } from "./ignore-glob.ts";

export interface Rule {
  /** Null stands for two stars: any number of directories. */
  readonly parts: readonly (readonly Token[] | null)[];
  readonly anchored: boolean;
  readonly directoriesOnly: boolean;
  readonly ignores: boolean;
}

/** `content`: one character for each byte. */
export function rulesOf(content: string): readonly Rule[] {
  const rules: Rule[] = [];
  for (const line of content.replace(/^\u00ef\u00bb\u00bf/, "").split("\n")) {
    if (line.startsWith("#")) continue;
    const rule = ruleOf(withoutTrailingBlanks(line.replace(/\r$/, "")));
    if (rule !== null) rules.push(rule);
  }
  return rules;
}

function ruleOf(line: string): Rule | null {
  const ignores = !line.startsWith("!");
  let text = ignores ? line : line.slice(1);
  const directoriesOnly = text.endsWith("/");
  if (directoriesOnly) text = text.slice(0, -1);
  const anchored = text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  if (text === "") return null;
  const parts: (readonly Token[] | null)[] = [];
  for (const part of text.split("/")) {
    const isDeep = part === "**" && anchored;
    if (!isDeep) parts.push(tokensOf(part));
    else if (parts.at(-1) !== null) parts.push(null); // several in a row mean the same as one
  }
  return { parts, anchored, directoriesOnly, ignores };
}

function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && line[end - 2] !== "\\") end -= 1;
  return line.slice(0, end);
}
