import type { TlsOptions } from "@nats-io/nats-core";

/**
 * TLS of a connection to NATS. It is demanded if one of the URLs begins with `tls:`, or a file of authorities is given. The
 * client alone would also go on without TLS where the server offers none, and so would whoever stands between.
 *
 * `ca`: PEM file with the authorities that may have signed the server's certificate. Default: those of the system.
 */
export function natsTls(servers: readonly string[], ca: string | undefined): TlsOptions | null {
  if (ca !== undefined) return { caFile: ca };
  return servers.some((url) => url.startsWith("tls:")) ? {} : null;
}
