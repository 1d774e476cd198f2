/** Creates small real git repositories for runs. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Project {
  readonly path: string;
  git(...args: string[]): string;
  write(path: string, content: string, mode?: number): void;
  commitAll(message: string): string;
  /** Commit ids on `antiphon/<runId>` that are not on main, oldest first. */
  landed(runId: string): string[];
  remove(): void;
}

export function makeProject(files: Record<string, string>): Project {
  const path = mkdtempSync(join(tmpdir(), "antiphon-project-"));
  const git = (...args: string[]): string =>
    execFileSync(
      "git",
      [
        "-C",
        path,
        "-c",
        "user.name=Test",
        "-c",
        "user.email=test@localhost",
        "-c",
        "commit.gpgsign=false",
        ...args,
      ],
      {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
  const project: Project = {
    path,
    git,
    write(file, content, mode) {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), content, mode === undefined ? {} : { mode });
    },
    commitAll(message) {
      git("add", "--all");
      git("commit", "--quiet", "--message", message);
      return git("rev-parse", "HEAD").trim();
    },
    landed(runId) {
      const ref = `refs/heads/antiphon/${runId}`;
      if (git("for-each-ref", ref) === "") return [];
      return git("rev-list", "--reverse", ref, "^refs/heads/main")
        .split("\n")
        .filter((id) => id !== "");
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
  git("init", "--quiet", "--initial-branch=main");
  for (const [file, content] of Object.entries(files)) project.write(file, content);
  project.commitAll("Begin");
  return project;
}

/** A calculator whose `add` subtracts; `node test.js` fails on it. */
export const BROKEN_CALCULATOR: Record<string, string> = {
  "add.js": "module.exports = (a, b) => a - b;\n",
  "test.js":
    'const add = require("./add.js");\nif (add(2, 2) !== 4) throw new Error(`2 + 2 = ${add(2, 2)}`);\n',
};
export const FIX = "sed -i 's/a - b/a + b/' add.js";
export const BREAK = "sed -i 's/a - b/a * 0/' add.js";
export const CHECK = "node test.js && echo 2 + 2 = 4";

/** The command line of the run that most tests use. */
export function fixing(project: Project): string[] {
  return ["run", "Fix the broken add", "--repo", project.path, "--command", FIX, "--check", CHECK];
}
