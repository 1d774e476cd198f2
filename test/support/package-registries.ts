/**
 * Lets the egress gateway of a test reach the package registries as this machine reaches them: by the machine's own names,
 * addresses and authorities. A mirror at a private address is otherwise refused, as it should be.
 */
import { lookup } from "node:dns/promises";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";

/** Where systems keep the authorities that their programs trust. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/cert.pem",
];

/** Writes the gateway's configuration below `directory`; returns the variables of `antiphon dev`. */
export async function registryAccess(
  directory: string,
  hosts: readonly string[],
): Promise<Record<string, string>> {
  const answers = await Promise.all(hosts.map(async (host) => [host, (await lookup(host)).address] as const));
  const bundle = [process.env["NODE_EXTRA_CA_CERTS"] ?? "", ...BUNDLES].find((path) => existsSync(path));
  const authorities = join(directory, "authorities.pem");
  writeFileSync(authorities, bundle === undefined ? rootCertificates.join("\n") : readFileSync(bundle));
  const config = join(directory, "egress.json");
  const overrides = Object.fromEntries(answers.map(([host, address]) => [`${host}:443`, `${address}:443`]));
  writeFileSync(config, JSON.stringify({ upstream_ca_file: authorities, overrides }));
  return { ANTIPHON_EGRESS_CONFIG: config };
}
