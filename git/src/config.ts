/** The one setting this package reads from the environment: where to find the `git` program. */

const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export function gitSearchPath(): string {
  return process.env["PATH"] ?? SYSTEM_PATH;
}
