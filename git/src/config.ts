/** What the git shell takes from the environment: where to look for the `git` program, and nothing else. */

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export function gitSearchPath(): string {
  return process.env["PATH"] ?? SYSTEM_PATH;
}
