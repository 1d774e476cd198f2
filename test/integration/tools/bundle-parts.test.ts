/** The parts of dockerode that a service needs seldom or never are loaded late, or left out of the bundle. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build, type Plugin } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { patient } from "../../support/patience.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "antiphon-bundle-"));
const program = join(dir, "docker.mjs");
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Prints how long the list of loaded built-in modules is that only gRPC needs, and how a call over SSH ends. */
const SOURCE = `
  import Docker from "dockerode";
  const early = process.moduleLoadList.filter((name) => name === "NativeModule http2").length;
  const ssh = new Docker({ protocol: "ssh", host: "127.0.0.1", port: 1, username: "nobody" });
  const end = await ssh.ping().then(() => "answered", ({ code, message }) => code ?? message);
  console.log(JSON.stringify({ early, end }));
`;

beforeAll(async () => {
  const { seldomParts, NEVER } = (await import(join(ROOT, "scripts/build.mjs"))) as {
    seldomParts: Plugin;
    NEVER: string[];
  };
  await build({
    absWorkingDir: ROOT,
    stdin: { contents: SOURCE, resolveDir: join(ROOT, "services/sandbox-runner") },
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    plugins: [seldomParts],
    external: ["cpu-features", "*.node", ...NEVER],
    banner: {
      js: 'import{createRequire as c}from"node:module";import{dirname as d}from"node:path";import{fileURLToPath as p}from"node:url";const require=c(import.meta.url),__filename=p(import.meta.url),__dirname=d(__filename);',
    },
    logLevel: "error",
  });
}, patient(30_000));

it(
  "Docker over SSH is tried when it is asked for, and BuildKit's packages are not needed for that",
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [pathToFileURL(program).pathname]);
    expect(JSON.parse(stdout)).toEqual({ early: 0, end: "ECONNREFUSED" });
  },
  patient(30_000),
);
