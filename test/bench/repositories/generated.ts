/**
 * Repositories of any size that need no registry: `packages` dependencies as tarballs of the tree, a lock file with their
 * digests, and a check that fails until `app.js` adds.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";

export interface Size {
  readonly label: string;
  /** Tracked source files. */
  readonly files: number;
  readonly packages: number;
  readonly filesOfPackage: number;
}

export interface Generated extends Size {
  readonly path: string;
  head(): string;
  /** Commits other inputs of setup, so that its environment is a new one. */
  renew(round: number): void;
  remove(): void;
}

export const CHECK = "node test.js";
export const FIX = "sed -i 's/a - b/a + b/' app.js";

export function generate(size: Size): Generated {
  const path = mkdtempSync(join(tmpdir(), "antiphon-bench-repository-"));
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", path, ...IDENTITY, ...args], { encoding: "utf8" }).trim();
  const write = (name: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  };
  git("init", "--quiet", "--initial-branch=main");
  for (const [name, content] of filesOf(size)) write(name, content);
  git("add", "--all");
  git("commit", "--quiet", "--message", "Begin");
  return {
    ...size,
    path,
    head: () => git("rev-parse", "HEAD"),
    renew: (round) => {
      write("package.json", manifest(size, `round ${round}`));
      git("commit", "--quiet", "--all", "--message", `Round ${round}`);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

const IDENTITY = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false"];

const packagesOf = ({ packages }: Size): string[] =>
  Array.from({ length: packages }, (_, at) => `package${at}`);

function* filesOf(size: Size): Generator<[string, string | Buffer]> {
  const locked: Record<string, unknown> = { "": { dependencies: dependenciesOf(size) } };
  for (const name of packagesOf(size)) {
    const tarball = packed(name, size.filesOfPackage);
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    locked[`node_modules/${name}`] = { version: "1.0.0", resolved: `file:vendor/${name}.tgz`, integrity };
    yield [`vendor/${name}.tgz`, tarball];
  }
  yield ["package.json", manifest(size, "a generated repository")];
  yield ["package-lock.json", JSON.stringify({ name: "app", lockfileVersion: 3, packages: locked })];
  yield [".gitignore", "node_modules/\n"];
  yield ["app.js", 'require("package0");\nmodule.exports = (a, b) => a - b;\n'];
  yield ["test.js", 'if (require("./app.js")(2, 2) !== 4) throw new Error("2 + 2");\n'];
  for (let at = 0; at < size.files; at += 1)
    yield [`src/part${Math.floor(at / 100)}/file${at % 100}.js`, `exports.value${at} = ${at};\n`.repeat(20)];
}

function manifest(size: Size, description: string): string {
  return JSON.stringify({ name: "app", description, dependencies: dependenciesOf(size) });
}

function dependenciesOf(size: Size): Record<string, string> {
  return Object.fromEntries(packagesOf(size).map((name) => [name, `file:vendor/${name}.tgz`]));
}

function packed(name: string, count: number): Buffer {
  const file = (path: string, text: string) => ({
    path: `package/${path}`,
    mode: "100644" as const,
    content: Buffer.from(text),
  });
  const own = [file("package.json", JSON.stringify({ name, version: "1.0.0" })), file("index.js", "")];
  const more = Array.from({ length: count - own.length }, (_, at) =>
    file(`lib/part${Math.floor(at / 50)}/file${at}.js`, `exports.${name}_${at} = ${at};\n`.repeat(30)),
  );
  return gzipSync(canonicalTar([...own, ...more]));
}
