/** A real Gitea server on loopback with an administrator, people and their tokens. `npm run gitea` builds its program. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { eventually } from "../e2e/support/program.ts";
import { endOf, freePorts } from "./nats.ts";
import { tempDir } from "./repo.ts";

export interface Gitea {
  readonly url: string;
  readonly version: string;
  /** Makes a person; returns a token with these scopes. */
  user(name: string, scopes?: string): string;
  /** Another token of a person. */
  token(name: string, scopes: string): string;
  call(
    token: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: unknown }>;
  close(): Promise<void>;
}

/** The program, or why there is none. */
export function giteaProgram(): { readonly program: string } | { readonly unavailable: string } {
  const program = process.env["ANTIPHON_TEST_GITEA"] ?? "";
  if (program === "")
    return { unavailable: "ANTIPHON_TEST_GITEA names no Gitea; `npm run gitea -- <directory>` builds one" };
  return existsSync(program) ? { program } : { unavailable: `there is no ${program}` };
}

export async function startGitea(program: string): Promise<Gitea> {
  const [port = 0] = await freePorts(1);
  const directory = tempDir();
  const config = join(directory, "app.ini");
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(config, configOf(directory, dirname(program), port, url));
  const gitea = (...args: string[]): string =>
    execFileSync(program, ["-c", config, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  gitea("migrate");
  const child = spawn(program, ["-c", config, "web"], { stdio: "ignore" });
  const answers = async (): Promise<true | null> => {
    try {
      return (await fetch(`${url}/api/healthz`)).ok ? true : null;
    } catch {
      return null; // It does not listen yet.
    }
  };
  await eventually("Gitea answers", answers);
  let tokens = 0;
  const token = (name: string, scopes: string): string => {
    const named = ["--username", name, "--token-name", `t${(tokens += 1)}`, "--scopes", scopes, "--raw"];
    return (
      gitea("admin", "user", "generate-access-token", ...named)
        .split("\n")
        .at(-1) ?? ""
    );
  };
  const call: Gitea["call"] = async (authorization, method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `token ${authorization}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : (JSON.parse(text) as unknown) };
  };
  const version = await fetch(`${url}/api/v1/version`).then(
    async (response) => ((await response.json()) as { version: string }).version,
  );
  return {
    ...{ url, version, token, call },
    user(name, scopes = "all") {
      const mail = ["--email", `${name}@example.org`, "--must-change-password=false"];
      gitea("admin", "user", "create", "--username", name, "--password", `Secret-of-${name}-1`, ...mail);
      return token(name, scopes);
    },
    close: () => endOf(child, "SIGTERM"),
  };
}

function configOf(directory: string, files: string, port: number, url: string): string {
  // Gitea refuses root by default; the machines of CI have no other user.
  const root = process.getuid?.() === 0 ? "I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true" : "";
  return `
${root}
RUN_MODE = prod
RUN_USER = ${process.getuid?.() === 0 ? "root" : (process.env["USER"] ?? "")}
WORK_PATH = ${directory}
[server]
PROTOCOL = http
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${url}/
STATIC_ROOT_PATH = ${files}
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
PATH = ${join(directory, "gitea.db")}
[security]
INSTALL_LOCK = true
SECRET_KEY = key-of-one-test
PASSWORD_HASH_ALGO = pbkdf2_v2
[log]
MODE = console
LEVEL = Error
[repository]
DEFAULT_BRANCH = main
`;
}
