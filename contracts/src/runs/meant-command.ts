/** The command that somebody meant whose check begins with a mistyped program. Pure. */
import { isSlip } from "../validation/slip.ts";
import { programOf } from "./check-program.ts";

/** Programs that checks begin with. */
const MEANT = [
  ...[
    "npm",
    "npx",
    "pnpm",
    "yarn",
    "node",
    "deno",
    "tsc",
    "jest",
    "vitest",
    "mocha",
    "eslint",
    "python",
    "python3",
  ],
  ...[
    "pytest",
    "ruff",
    "mypy",
    "poetry",
    "make",
    "cmake",
    "ctest",
    "ninja",
    "just",
    "cargo",
    "go",
    "mvn",
    "gradle",
  ],
  ...[
    "java",
    "ruby",
    "rake",
    "rspec",
    "bundle",
    "php",
    "phpunit",
    "composer",
    "dotnet",
    "swift",
    "perl",
    "prove",
  ],
  ...["bats", "bash", "test", "grep", "diff", "shellcheck", "sbt", "bazel"],
];

/** Other programs whose names begin like one of these and are close to it. */
const OTHERS = ["javac", "javap", "javaw", "gradlew", "swiftc", "mypyc", "difft"];

const KNOWN: ReadonlySet<string> = new Set([...MEANT, ...OTHERS]);

/** A shorter name with another letter is too often a program of its own. */
const SHORTEST = 5;

/** Null: the program is known, or is close to no known one, so that only a sandbox can tell whether it exists. */
export function meantCommand(check: string): string | null {
  const program = programOf(check);
  if (program === null || KNOWN.has(program)) return null;
  const meant = MEANT.find((one) => isSlip(program, one) && isSure(program, one));
  return meant === undefined ? null : `${meant}${check.trim().slice(program.length)}`;
}

/** The same letters; or another one that is not the first, since `gmake` and `jruby` are programs. */
function isSure(program: string, meant: string): boolean {
  const letters = (word: string): string => [...word.toLowerCase()].sort().join("");
  return letters(program) === letters(meant) || (program.length >= SHORTEST && program[0] === meant[0]);
}
