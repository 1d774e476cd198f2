/** Configuration that is not a program: words that name files, and lines that are commands (INI, TOML, YAML, .rspec). */
import { parentOf } from "./check-tree.ts";
import { pythonModule } from "./modules.ts";
import type { Place, Trace } from "./trace.ts";

const MAX_LINES = 5000;
const COMMAND =
  /^(npm|npx|pnpm|yarn|make|just|pytest|tox|nox|mocha|jest|vitest|cargo|go|mvn|gradle|node|python[0-9.]*|sh|bash|perl|ruby|php|coverage|prove|ctest|\.\/\S+|[\w.-]+\/\S+)(\s|$)/;

export function isConfigText(path: string): boolean {
  return /(\.(ini|cfg|toml|ya?ml|conf|properties|xml|opts|rc)|rc|\.rspec|\.env[^/]*|Taskfile[^/]*|maven\.config|jvm\.config)$/.test(
    path,
  );
}

export function followConfig(text: string, path: string, place: Place, trace: Trace): void {
  const dir = parentOf(path);
  const inside = { dir, direct: false, trail: place.trail };
  for (const line of text.slice(0, 256 * 1024).split("\n", MAX_LINES)) {
    const plain = line.replace(/^\s*(?:-\s+)?(?:[\w.-]{1,60}\s?[:=]\s)?\s*/, "").replace(/^["'[]+/, "");
    if (COMMAND.test(plain)) trace.shell(plain.replace(/["'\],]+$/, ""), inside);
    for (const word of line.split(/[\s"',;=:[\](){}<>]+/, 200)) mention(word, dir, inside, trace);
    const options = /^\s*addopts\s*=\s*["']?(.*?)["']?\s*$/.exec(line)?.[1];
    if (options !== undefined) trace.start(["pytest", ...options.split(/\s+/)], inside);
    if (path.endsWith(".rspec")) trace.start(["rspec", ...line.trim().split(/\s+/)], inside);
  }
}

function mention(word: string, dir: string, place: Place, trace: Trace): void {
  if (word.length < 2 || word.length > 300) return;
  const name = word.replace(/^(<rootDir>|\{toxinidir\}|\$\{[\w.]+\})\/?/, "");
  for (const from of new Set([dir, ""])) {
    const path = trace.tree.file(from, name) ?? trace.tree.file(from, `${name}.rb`);
    if (path !== null) trace.file(path, "import", place);
  }
  if (/^\w+(\.\w+)+$/.test(name)) {
    const { to } = pythonModule(trace.tree, dir, name);
    if (to !== null) trace.file(to, "import", place);
  }
}
