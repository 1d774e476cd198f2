/** Trust begins with a file of the deployment, and never with the bucket of keys. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUCKETS } from "@antiphon/contracts";
import {
  createLogger,
  openKv,
  openSigningKey,
  pinOwnKey,
  provision,
  readRuntimeConfig,
  startService,
} from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { makeKey } from "../../../cli/src/keys/key-files.ts";
import { readDirectorConfig } from "../../../services/director/src/config.ts";
import { startDirector } from "../../../services/director/src/wiring.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";

const log = createLogger("test", { level: "silent" });
let nats: NatsServer;
let bus: Bus;
let dir = "";
let file = "";
beforeAll(async () => {
  nats = await startNats();
  bus = await nats.connect();
  await provision(bus);
});
afterAll(() => nats.close());
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "antiphon-own-key-"));
  file = join(dir, "trusted-keys.json");
});
afterEach(async () => {
  const kv = openKv(bus, BUCKETS.keys);
  for (const kid of await kv.keys()) await kv.delete(kid);
  rmSync(dir, { recursive: true, force: true });
});

const pinned = (): string[] =>
  (JSON.parse(readFileSync(file, "utf8")) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);

test("over a new journal a Director makes the file with its own key and uses it the next time", async () => {
  const key = openSigningKey(null);
  await pinOwnKey(bus, file, key, log);
  await pinOwnKey(bus, file, key, log);
  expect(pinned()).toEqual([key.jwk.kid]);
});

test("over a journal that others signed a Director makes no file: an operator has to adopt the keys", async () => {
  const [key, other] = [openSigningKey(null), openSigningKey(null)];
  await openKv(bus, BUCKETS.keys).put(other.jwk.kid, other.jwk);
  const refused = pinOwnKey(bus, file, key, log);
  await expect(refused).rejects.toMatchObject({ code: "ANT_TRUST_MISSING", data: { kids: [other.jwk.kid] } });
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, JSON.stringify({ keys: [other.jwk, key.jwk] }));
  await pinOwnKey(bus, file, key, log);
});

test("a Director whose key is not in the file does not start, and does not add itself", async () => {
  const other = openSigningKey(null);
  writeFileSync(file, JSON.stringify({ keys: [other.jwk] }));
  const refused = pinOwnKey(bus, file, openSigningKey(null), log);
  await expect(refused).rejects.toMatchObject({ code: "ANT_TRUST_MISSING" });
  expect(pinned()).toEqual([other.jwk.kid]);
});

test("a service without trusted keys does not start, nor does a Director without a key file", async () => {
  const idle = { name: "idle", start: () => Promise.resolve() };
  const config = readRuntimeConfig({ ANTIPHON_NATS_URL: nats.url });
  await expect(startService(idle, config, log)).rejects.toMatchObject({ code: "ANT_TRUST_MISSING" });
  const director = {
    name: "director",
    makesTrust: true,
    start: (context: Parameters<typeof startDirector>[0]) => startDirector(context, readDirectorConfig({})),
  };
  const pinning = readRuntimeConfig({ ANTIPHON_NATS_URL: nats.url, ANTIPHON_TRUSTED_KEYS: file });
  await expect(startService(director, pinning, log)).rejects.toMatchObject({
    code: "ANT_CONFIG_INVALID",
    data: { variable: "ANTIPHON_DIRECTOR_KEY" },
  });
});

test("antiphon keys make writes a key and the file that trusts it; a call for another key keeps the first one trusted", async () => {
  const pem = join(dir, "director-key.pem");
  const first = makeKey(pem, file);
  expect(first).toMatchObject({ made: true, trusted: 1 });
  expect(makeKey(pem, file)).toEqual({ ...first, made: false });
  const second = makeKey(join(dir, "next-key.pem"), file);
  expect(pinned()).toEqual([first.key.kid, second.key.kid]);
  expect(openSigningKey(pem).jwk).toEqual(first.key);
  await pinOwnKey(bus, file, openSigningKey(pem), log);
});
