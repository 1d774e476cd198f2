/** The connection of a service to NATS over TLS, on a real server. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { provision } from "../../../runtime/src/index.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";
import { cleanUpRepos, tempDir } from "../../support/repo.ts";

const dir = tempDir("antiphon-tls-");
const at = (name: string): string => join(dir, name);
let secure: NatsServer;
let plain: NatsServer;

/** A certificate `<name>.pem` with its key; signed by itself, or by `authority`. */
function certificate(name: string, authority?: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const signer =
    authority === undefined ? [] : ["-CA", at(`${authority}.pem`), "-CAkey", at(`${authority}.key`)];
  const files = ["-keyout", at(`${name}.key`), "-out", at(`${name}.pem`)];
  const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost"];
  execFileSync("openssl", ["req", "-x509", ...key, "-days", "2", ...subject, ...signer, ...files], {
    stdio: "pipe",
  });
}

beforeAll(async () => {
  certificate("authority");
  certificate("stranger");
  certificate("server", "authority");
  const tls = `tls { cert_file: ${JSON.stringify(at("server.pem"))}, key_file: ${JSON.stringify(at("server.key"))} }`;
  secure = await startNats({ tls });
  plain = await startNats();
});

afterAll(async () => {
  await secure.close();
  await plain.close();
  cleanUpRepos();
});

const tlsUrl = ({ port }: NatsServer): string => `tls://localhost:${port}`;
const unreachable = (detail: RegExp) => ({
  code: "ANT_NATS_UNREACHABLE",
  detail: expect.stringMatching(detail) as string,
});

describe("a service that is to reach NATS over TLS", () => {
  it("refuses a server whose certificate another authority signed, and says so", async () => {
    const asked = secure.connect({ servers: tlsUrl(secure), ca: at("stranger.pem") });
    await expect(asked).rejects.toMatchObject(unreachable(/over TLS: .*certificate/));
  });

  it("refuses a server whose authority the system does not know", async () => {
    const asked = secure.connect({ servers: tlsUrl(secure) });
    await expect(asked).rejects.toMatchObject(unreachable(/over TLS: .*certificate/));
  });

  it("refuses a server without TLS instead of going on in the clear", async () => {
    for (const settings of [{ servers: tlsUrl(plain) }, { servers: plain.url, ca: at("authority.pem") }])
      await expect(plain.connect(settings)).rejects.toMatchObject(unreachable(/over TLS: .*tls/i));
  });

  it("says which file of authorities is not there", async () => {
    const asked = secure.connect({ servers: tlsUrl(secure), ca: at("missing.pem") });
    await expect(asked).rejects.toMatchObject(unreachable(/missing\.pem/));
  });

  it("connects to a server of its authority, and works", async () => {
    const bus = await secure.connect({ servers: tlsUrl(secure), ca: at("authority.pem") });
    expect((await provision(bus, {})).created.length).toBeGreaterThan(0);
    expect(bus.nc.info).toMatchObject({ tls_required: true });
  });
});
