/** The registries that setup in the sandboxes of these trials asks. */
import { lookup } from "node:dns/promises";

const HOSTS = [
  "registry.npmjs.org",
  "pypi.org",
  "files.pythonhosted.org",
  "proxy.golang.org",
  "sum.golang.org",
  "index.crates.io",
  "static.crates.io",
  "repo.maven.apache.org",
];

/** Those that this machine finds; a mirror need not have all. */
export async function knownRegistries(): Promise<string[]> {
  const answers = await Promise.allSettled(HOSTS.map(async (host) => (await lookup(host), host)));
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
}
