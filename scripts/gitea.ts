/**
 * `npm run gitea -- <directory>`: builds a Gitea server from its Go module into a directory, for the tests against a real one
 * (test/integration/gateway/gitea.test.ts). It needs Go 1.26 and a C compiler for SQLite, and takes a quarter of an hour on
 * two cores. The module holds no pages for browsers; the API needs none.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const MODULE = "code.gitea.io/gitea@v1.26.0";
/** As `go.sum` has it; Go compares it with the checksum database as well. */
const SUM = "h1:fJP9dqLbzKrKWUVnCVTfVersZdVDuyJQLEDzCAOmKKA=";
/** What the server reads beside its program. */
const FILES = ["options", "templates", "public"];

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error("npm run gitea -- <directory>");
const target = resolve(directory);
const scratch = mkdtempSync(join(tmpdir(), "antiphon-gitea-"));
try {
  const answer = execFileSync("go", ["mod", "download", "-json", MODULE], { cwd: scratch, encoding: "utf8" });
  const { Dir, Sum } = JSON.parse(answer) as { Dir: string; Sum: string };
  if (Sum !== SUM) throw new Error(`${MODULE} has the sum ${Sum}, and not ${SUM}`);
  const source = join(scratch, "source");
  cpSync(Dir, source, { recursive: true });
  execFileSync("chmod", ["-R", "u+w", source]); // Go's cache is read-only.
  mkdirSync(target, { recursive: true });
  const tags = "sqlite sqlite_unlock_notify";
  const flags = ["-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.Version=1.26.0"];
  execFileSync("go", ["build", "-tags", tags, ...flags, "-o", join(target, "gitea"), "."], {
    cwd: source,
    env: { ...process.env, CGO_ENABLED: "1" },
    stdio: "inherit",
  });
  for (const name of FILES) cpSync(join(source, name), join(target, name), { recursive: true });
  process.stdout.write(`ANTIPHON_TEST_GITEA=${join(target, "gitea")}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
