/**
 * The settings that tell the programs in a sandbox where their proxy is and which certificates to trust. None is a
 * secret.
 */
import { CHECKPOINT_HOST, CHECKPOINT_VARIABLE, type EgressGrant } from "@antiphon/contracts";

/** Loopback port of the proxy inside every sandbox that has a network. */
export const EGRESS_PORT = 3128;
/** In /tmp, so that it is no part of the work. A step that damages it only harms itself. */
const CERTIFICATE = "/tmp/.antiphon-ca.pem";

/** It protects nothing: the store holds certificates only, and Java insists on one. */
export const TRUST_STORE_PASSWORD = "changeit";
/** The same certificates for Java. */
const TRUST_STORE = "/tmp/.antiphon-ca.jks";

/** Writes both with one start of a shell. The certificates are its input, the binary store is part of its script. */
export function writeCertificates(trustStore: Buffer): readonly string[] {
  const octal = [...trustStore].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  return ["/bin/sh", "-c", `cat > ${CERTIFICATE} && printf '${octal}' > ${TRUST_STORE}`];
}

const PROXY = `http://127.0.0.1:${EGRESS_PORT}`;
const DIRECT = "localhost,127.0.0.1,::1";

/** A JVM reads system properties only. */
const JAVA_OPTIONS = [
  ...["http", "https"].flatMap((scheme) => [
    `-D${scheme}.proxyHost=127.0.0.1`,
    `-D${scheme}.proxyPort=${EGRESS_PORT}`,
  ]),
  "-Dhttp.nonProxyHosts=localhost|127.0.0.1",
  `-Djavax.net.ssl.trustStore=${TRUST_STORE}`,
  `-Djavax.net.ssl.trustStorePassword=${TRUST_STORE_PASSWORD}`,
].join(" ");

export function egressEnvironment({ profile, checkpoints }: EgressGrant): Readonly<Record<string, string>> {
  return {
    ANTIPHON_EGRESS: profile.mode ?? "git+pkg",
    ...(checkpoints === true ? { [CHECKPOINT_VARIABLE]: `https://${CHECKPOINT_HOST}` } : {}),
    http_proxy: PROXY,
    https_proxy: PROXY,
    HTTP_PROXY: PROXY,
    HTTPS_PROXY: PROXY,
    no_proxy: DIRECT,
    NO_PROXY: DIRECT,
    NODE_USE_ENV_PROXY: "1",
    NODE_EXTRA_CA_CERTS: CERTIFICATE,
    SSL_CERT_FILE: CERTIFICATE,
    REQUESTS_CA_BUNDLE: CERTIFICATE,
    CURL_CA_BUNDLE: CERTIFICATE,
    GIT_SSL_CAINFO: CERTIFICATE,
    GIT_TERMINAL_PROMPT: "0",
    JAVA_TOOL_OPTIONS: JAVA_OPTIONS,
    PIP_CERT: CERTIFICATE,
    CARGO_HTTP_CAINFO: CERTIFICATE,
    npm_config_cafile: CERTIFICATE,
  };
}
