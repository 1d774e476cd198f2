/** Real git repositories in a temp directory for tests: made by plain `git`, removed by `cleanUpRepos()`. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A file's content, with `mode` if it is not 100644; `link` makes a symbolic link. */
export type FileSpec = string | Buffer | { content: string | Buffer; mode: "100755" } | { link: string };
export type FilesSpec = Record<string, FileSpec | null>;

export interface RepoSpec {
  /** The first commit. Default: one README. */
  files?: FilesSpec;
  /** Later commits: null deletes a file. */
  commits?: readonly { message?: string; files: FilesSpec }[];
  bare?: boolean;
  format?: "sha1" | "sha256";
  /** Without any commit. */
  unborn?: boolean;
  branch?: string;
}

export interface TestRepo {
  path: string;
  /** Ids of the commits, oldest first. */
  commits: string[];
  head: string;
  git(...args: string[]): string;
  write(files: FilesSpec): void;
  commit(message: string, files?: FilesSpec): string;
}

const made: string[] = [];

export function tempDir(prefix = "antiphon-test-"): string {
  const dir = mkdtempSync(join(tmpdir(), prefix));
  made.push(dir);
  return dir;
}

export function cleanUpRepos(): void {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
}

/** Temp directories that our git operations left behind; a leak test compares this before and after. */
export function scratchLeftovers(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("antiphon-git-"));
}

const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.test",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.test",
  GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
  GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
};

export function rawGit(cwd: string, ...args: string[]): string {
  const settings = [
    "-c",
    "safe.directory=*",
    "-c",
    "protocol.file.allow=always",
    "-c",
    "core.autocrlf=false",
  ];
  return execFileSync("git", [...settings, ...args], {
    cwd,
    env: ENVIRONMENT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 256 * 1024 * 1024,
  }).trimEnd();
}

export function makeRepo(spec: RepoSpec = {}): TestRepo {
  const path = tempDir();
  rawGit(path, "init", "-q", "-b", spec.branch ?? "main", "--object-format", spec.format ?? "sha1");
  const repo = handle(path);
  if (spec.unborn === true) return repo;
  repo.commit("first", spec.files ?? { "README.md": "# A repository\n" });
  for (const [index, next] of (spec.commits ?? []).entries()) {
    repo.commit(next.message ?? `change ${index + 1}`, next.files);
  }
  if (spec.bare !== true) return repo;
  const bare = join(tempDir(), "bare.git");
  rawGit(path, "clone", "-q", "--bare", path, bare);
  return { ...handle(bare), commits: repo.commits, head: repo.head };
}

function handle(path: string): TestRepo {
  const repo: TestRepo = {
    path,
    commits: [],
    head: "",
    git: (...args) => rawGit(path, ...args),
    write: (files) => writeFiles(path, files),
    commit(message, files = {}) {
      writeFiles(path, files);
      rawGit(path, "add", "-A", "-f");
      rawGit(path, "commit", "-q", "--allow-empty", "-m", message);
      repo.head = rawGit(path, "rev-parse", "HEAD");
      repo.commits.push(repo.head);
      return repo.head;
    },
  };
  return repo;
}

function writeFiles(top: string, files: FilesSpec): void {
  for (const [name, spec] of Object.entries(files)) {
    const path = join(top, name);
    rmSync(path, { recursive: true, force: true });
    if (spec === null) continue;
    mkdirSync(dirname(path), { recursive: true });
    if (typeof spec === "string" || Buffer.isBuffer(spec)) writeFileSync(path, spec);
    else if ("link" in spec) symlinkSync(spec.link, path);
    else {
      writeFileSync(path, spec.content);
      chmodSync(path, 0o755);
    }
  }
}

/** A repository with many small source files in a tree of directories, some of them executable. */
export function manyFiles(count: number): FilesSpec {
  const files: FilesSpec = {};
  for (let index = 0; index < count; index += 1) {
    const path = `src/part-${index % 25}/unit-${Math.floor(index / 25) % 10}/file-${index}.js`;
    const lines = Array.from(
      { length: 20 + (index % 60) },
      (_, line) => `export const v${line} = ${index * 31 + line};`,
    );
    const content = `${lines.join("\n")}\n`;
    files[path] = index % 50 === 0 ? { content, mode: "100755" } : content;
  }
  return files;
}
