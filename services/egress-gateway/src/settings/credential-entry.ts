/** Makes a credential from an entry of the configuration. */
import type { EgressConfig } from "@antiphon/contracts";
import { invalid, namedHost, text, type Env } from "./config-file.ts";
import type { Credential } from "../policy/credentials.ts";

type CredentialEntry = NonNullable<EgressConfig["credentials"]>[number];

/** A shorter secret could not be told from other text. */
export const SHORTEST_SECRET = 8;

/** @throws AntiphonError ANT_CONFIG_INVALID */
export function credentialOf(entry: CredentialEntry, env: Env): Credential {
  const { user, header = "authorization", value = "Bearer ${secret}" } = entry;
  const host = namedHost(entry.host);
  if ((entry.env === undefined) === (entry.file === undefined))
    throw invalid(`the credential of ${host} needs one of env and file`);
  const secret = (entry.env === undefined ? text(entry.file ?? "") : (env[entry.env] ?? "")).trim();
  if (secret.length < SHORTEST_SECRET)
    throw invalid(`the secret of ${host} is missing, or too short to be told from other text`);
  const basic = user === undefined ? null : Buffer.from(`${user}:${secret}`).toString("base64");
  const full = basic === null ? value.replaceAll("${secret}", secret) : `Basic ${basic}`;
  if (!/^[\x21-\x7e][\x20-\x7e]*$/.test(full))
    throw invalid(`the secret of ${host} does not fit into a header`);
  const encoded = [
    Buffer.from(secret).toString("base64"),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ];
  return {
    host,
    header,
    value: full,
    secrets: [...new Set([secret, ...encoded, ...(basic === null ? [] : [basic])])],
  };
}
