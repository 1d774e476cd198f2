import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEgressConfig, type EgressSettings } from "./config.ts";

const OPENAI = "api.openai.com";
const ANTHROPIC = "api.anthropic.com";
const PRICE = { input: 1, output: 2, max_output: 8 };
const KEY = "a-long-enough-key";

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "egress-config-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

function settings(file: unknown, env: Record<string, string> = {}): EgressSettings {
  const path = join(directory, "egress.json");
  writeFileSync(path, typeof file === "string" ? file : JSON.stringify(file));
  return readEgressConfig({ ANTIPHON_EGRESS_CONFIG: path, ...env });
}

const hosts = ({ models }: EgressSettings): string[] => [...models.keys()];

describe("providers that are known without a configuration", () => {
  it("have prices, and are metered", () => {
    const { models, known } = readEgressConfig({});
    for (const host of [OPENAI, ANTHROPIC, "generativelanguage.googleapis.com"]) {
      expect(Object.keys(models.get(host)?.prices ?? {})).not.toEqual([]);
      expect(known).toContainEqual({ host, kind: "model", ports: [443], terminate: true });
    }
    expect(models.get(ANTHROPIC)?.prices["claude-sonnet-5-5*"]).toEqual({
      ...{ input: 2_000_000, output: 10_000_000, cache_read: 100_000, max_output: 128_000 },
      ...{ cache_write: 4_000_000, cache_write_short: 2_500_000 },
    });
  });

  it("take the key of the variable that their own programs read, and say which one is missing", () => {
    const { models, credentials } = readEgressConfig({ ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: "short" });
    expect(credentials).toMatchObject([{ host: ANTHROPIC, header: "x-api-key", value: KEY }]);
    expect(models.get(ANTHROPIC)?.noKey).toBeNull();
    expect(models.get(OPENAI)?.noKey).toBe("OPENAI_API_KEY is not set");
  });

  it("give way to the configuration, prices and credentials each", () => {
    const own = settings(
      { models: [{ host: OPENAI, shape: "openai", prices: { "*": PRICE } }] },
      { OPENAI_API_KEY: KEY },
    );
    expect(Object.keys(own.models.get(OPENAI)?.prices ?? {})).toEqual(["*"]);
    expect(own.models.get(OPENAI)?.noKey).toBeNull();
    expect(own.credentials).toMatchObject([{ host: OPENAI, value: `Bearer ${KEY}` }]);
    const keyed = settings(
      { credentials: [{ host: OPENAI, env: "TEAM_KEY" }] },
      { OPENAI_API_KEY: KEY, TEAM_KEY: "the-key-of-the-team" },
    );
    expect(keyed.credentials.map(({ value }) => value)).toEqual(["Bearer the-key-of-the-team"]);
  });

  it("do not send the key to a server that takes the place of the provider", () => {
    const base_url = "https://models.example.com/v1";
    const moved = { host: OPENAI, shape: "openai", base_url, prices: { "*": PRICE } };
    expect(settings({ models: [moved] }, { OPENAI_API_KEY: KEY }).credentials).toEqual([]);
  });
});

describe("an entry of which nothing can be made", () => {
  const good = { host: "good.example.com", shape: "openai", prices: { "*": PRICE } };

  it.each([
    ["a price that is missing", { host: "bad.example.com", shape: "openai", prices: { "*": { input: 1 } } }],
    ["an unknown shape", { host: "bad.example.com", shape: "soap", prices: {} }],
    ["a base_url with a query", { ...good, host: "bad.example.com", base_url: "http://127.0.0.1/v1?a=b" }],
    ["an unknown field", { ...good, host: "bad.example.com", pricse: {} }],
  ])("%s in a model leaves the others as they are, and is named", (_what, bad) => {
    const read = settings({ models: [bad, good] });
    expect(hosts(read)).toContain("good.example.com");
    expect(hosts(read)).not.toContain("bad.example.com");
    expect(read.unusable).toMatchObject([{ entry: "models/bad.example.com", host: "bad.example.com" }]);
  });

  it("a credential whose secret is missing keeps its host from being called without one", () => {
    const read = settings({
      credentials: [
        { host: "good.example.com", env: "MISSING" },
        { host: "other.example.com", file: "/nowhere" },
      ],
      models: [good],
    });
    expect(read.models.get("good.example.com")?.noKey).toMatch(/missing/);
    expect(read.unusable.map(({ entry }) => entry)).toEqual([
      "credentials/good.example.com",
      "credentials/other.example.com",
    ]);
  });

  it("is not the whole file: one that cannot be read as a configuration stops the start", () => {
    for (const file of ["{", "[]", '{"models": 3}', '{"modles": []}', '{"overrides": {"a": 1}}'])
      expect(() => settings(file), file).toThrow(/ANT_CONFIG_INVALID|egress\.json/);
  });
});

describe("the authorities that all programs of Node trust", () => {
  const authority = "-----BEGIN CERTIFICATE-----\nof a company\n-----END CERTIFICATE-----\n";

  it("are trusted beside the public ones", () => {
    const path = join(directory, "authorities.pem");
    writeFileSync(path, authority);
    const { upstreamCa, unusable } = settings({}, { NODE_EXTRA_CA_CERTS: path });
    expect(upstreamCa).toEqual([...settings({}).upstreamCa, authority]);
    expect(unusable).toEqual([]);
  });

  it("are named, and the rest works, when their file cannot be read", () => {
    const { upstreamCa, unusable } = settings({}, { NODE_EXTRA_CA_CERTS: join(directory, "none.pem") });
    expect(upstreamCa).toEqual(settings({}).upstreamCa);
    expect(unusable).toMatchObject([
      { entry: "NODE_EXTRA_CA_CERTS", reason: expect.stringMatching(/none\.pem/) as string },
    ]);
  });
});

describe("an upstream proxy", () => {
  const proxy = (entry: object, env = {}) => settings({ upstream_proxy: entry }, env).proxy;

  it("is read with its password from the environment, which no other setting shows", () => {
    const entry = { url: "http://proxy.example.com:3128", user: "user", env: "PROXY_PASSWORD" };
    const read = settings({ upstream_proxy: entry }, { PROXY_PASSWORD: "password" });
    expect(read.proxy).toEqual({
      ...{ scheme: "http", host: "proxy.example.com", port: 3128, byName: false },
      authorization: "Basic dXNlcjpwYXNzd29yZA==",
    });
    expect(settings({}).proxy).toBeNull();
    expect(proxy({ url: "https://[2001:db8::1]", by_name: true })).toMatchObject({
      ...{ scheme: "https", host: "2001:db8::1", port: 443, byName: true, authorization: null },
    });
  });

  it.each([
    [{ url: "http://user:password@proxy.example.com" }, /nothing else/],
    [{ url: "http://proxy.example.com/path" }, /nothing else/],
    [{ url: "http://proxy example" }, /nothing else/],
    [{ url: "socks5://proxy.example.com" }, /upstream_proxy/],
    [{ url: "http://proxy.example.com", user: "user" }, /one of `env` and `file`/],
    [{ url: "http://proxy.example.com", env: "PROXY_PASSWORD" }, /one of `env` and `file`/],
    [{ url: "http://proxy.example.com", user: "user", env: "MISSING" }, /there is no password in MISSING/],
  ])(
    "that cannot be used stops the start, because without it nothing or too much is reached: %j",
    (entry, why) => {
      expect(() => proxy(entry)).toThrow(why);
    },
  );
});

describe("a configuration that cannot be used", () => {
  const closed = { ANTIPHON_EGRESS_BROKEN_CONFIG: "closed", OPENAI_API_KEY: KEY };
  const BROKEN: readonly [string, unknown, RegExp][] = [
    ["is not JSON", '{\n "models": [\n}', /egress\.json:3 is not JSON: /],
    ["ends too early", "{", /egress\.json:1 is not JSON: /],
    ["is another document", [], /egress\.json: /],
    ["has a list that is none", { git_hosts: 7 }, /git_hosts/],
    ["names a mirror that is none", { private_hosts: ["nexus.internal"] }, /private_hosts: .*local network/],
    ["names a proxy that is none", { upstream_proxy: { url: "ftp://a" } }, /upstream_proxy|proxy/],
  ];

  it.each(BROKEN)(
    "because it %s keeps a deployment's gateway from its start, with the place",
    (_why, file, told) => {
      expect(() => settings(file)).toThrow(told);
    },
  );

  it.each(BROKEN)(
    "because it %s closes that of `antiphon dev`, which starts and says why",
    (_why, file, told) => {
      const { models, credentials, known, unusable, isClosed } = settings(file, closed);
      expect(isClosed).toBe(true);
      expect(credentials).toEqual([]);
      expect(models.get(OPENAI)?.noKey).toMatch(told);
      expect(known.every(({ kind }) => kind === "model")).toBe(true);
      expect(unusable).toEqual([
        { entry: "all of it", host: null, reason: expect.stringMatching(told) as string },
      ]);
    },
  );

  it("in one entry leaves out that one, with its line, and the rest works", () => {
    const good = { host: "good.test", shape: "openai", prices: { "*": PRICE } };
    const text = `{"models": [\n${JSON.stringify({ ...good, host: "bad.test", shape: "soap" })},\n${JSON.stringify(good)}]}`;
    const { models, unusable, isClosed } = settings(text, closed);
    expect(isClosed).toBeUndefined();
    expect(models.has("good.test")).toBe(true);
    expect(unusable).toMatchObject([
      { entry: "models/bad.test", reason: expect.stringMatching(/egress\.json:2: /) as string },
    ]);
  });
});
