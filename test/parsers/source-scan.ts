/**
 * Finds source files that parse text in a way that can take more than linear time: regular expressions with unbounded
 * repetition, and parsers of JSON and YAML. An expression that starts at the beginning of its text and repeats once is
 * linear by its form.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";

const ROOT = new URL("../../", import.meta.url).pathname;
/** The command line is left out: it works only for the person who typed it, so it holds up nobody else. */
const FOLDERS = ["contracts/src", "run/src", "git/src", "runtime/src", "services"];
const NOT_SERVING = /\.test\.ts$|\.fixture\.ts$|\/testing\/|\/reference\//;

/** Path from the top of the repository -> the findings in it. */
export function parsingSources(): Map<string, string> {
  const found = new Map<string, string>();
  for (const folder of FOLDERS) {
    for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })) {
      const path = join(folder, name);
      if (!path.endsWith(".ts") || NOT_SERVING.test(path)) continue;
      const why = parsingIn(join(ROOT, path));
      if (why !== null) found.set(relative(".", path), why);
    }
  }
  return found;
}

/** Whatever the scan reports matches this outside of comments; a file without a match need not be read by a compiler. */
const SUSPECT = /RegExp|JSON\.parse|"yaml"|\/.*[+*}].*\//;
const COMMENT_LINES = /^\s*(\/?\*|\/\/).*$/gm;

function parsingIn(file: string): string | null {
  const text = readFileSync(file, "utf8");
  if (!SUSPECT.test(text.replace(COMMENT_LINES, ""))) return null;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  let why: string | null = null;
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node) && !isLinear(node.text)) why ??= node.text;
    if (ts.isNewExpression(node) && node.expression.getText(source) === "RegExp") why ??= "new RegExp";
    if (ts.isCallExpression(node) && node.expression.getText(source) === "JSON.parse") why ??= "JSON.parse";
    if (ts.isImportDeclaration(node) && node.moduleSpecifier.getText(source) === '"yaml"') why ??= "yaml";
    ts.forEachChild(node, visit);
  };
  visit(source);
  return why;
}

/** True if it is anchored at one place and backtracks over one repetition at most. */
function isLinear(literal: string): boolean {
  const flags = literal.slice(literal.lastIndexOf("/") + 1);
  const body = literal.slice(1, literal.lastIndexOf("/"));
  const bare = body.replace(/\\./g, "x").replace(/\[[^\]]*\]/g, "c");
  const repeats = bare.match(/[+*]|\{\d+,\}/g)?.length ?? 0;
  return (
    repeats === 0 || (repeats === 1 && bare.startsWith("^") && !bare.includes("|") && !flags.includes("m"))
  );
}
