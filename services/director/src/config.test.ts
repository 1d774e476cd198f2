import { expect, test } from "vitest";
import { readDirectorConfig } from "./config.ts";

test.each(["many", "0", "-1", "1.5", "1025"])("ANTIPHON_DIRECTOR_SLOTS=%s is refused by name", (text) => {
  expect(() => readDirectorConfig({ ANTIPHON_DIRECTOR_SLOTS: text })).toThrow(/ANTIPHON_DIRECTOR_SLOTS="/);
});

test("reads slots and repository roots, and has defaults for both", () => {
  expect(readDirectorConfig({})).toMatchObject({ slots: 16, repoRoots: null });
  const env = { ANTIPHON_DIRECTOR_SLOTS: "4", ANTIPHON_REPO_ROOTS: "/srv/a:/srv/b" };
  expect(readDirectorConfig(env)).toMatchObject({ slots: 4, repoRoots: ["/srv/a", "/srv/b"] });
});

test.each([
  ["", null],
  ["nats://127.0.0.1:4222", null],
  ["nats://localhost:4222,nats://[::1]:4223", null],
  ["nats://nats:4222", []],
  ["nats://127.0.0.1:4222,nats://10.0.0.7:4222", []],
  ["nats://127.0.0.1.example.org:4222", []],
])("without ANTIPHON_REPO_ROOTS, NATS at %j serves all repositories only on loopback", (url, roots) => {
  expect(readDirectorConfig({ ANTIPHON_NATS_URL: url }).repoRoots).toEqual(roots);
});

test("serves no repository by URL unless told; prefixes have one spelling, and files are absolute paths", () => {
  expect(readDirectorConfig({}).remotes).toMatchObject({ prefixes: [], access: {} });
  const env = {
    ANTIPHON_REPO_URLS: "https://Git.Example.com/acme/, ssh://git@git.example.com  file:///srv/git",
    ANTIPHON_GIT_CREDENTIALS: "/run/credentials",
    ANTIPHON_REPO_COPIES: "/var/copies",
  };
  expect(readDirectorConfig(env).remotes).toEqual({
    prefixes: ["https://git.example.com/acme", "ssh://git@git.example.com", "file:///srv/git"],
    directory: "/var/copies",
    access: { credentialsFile: "/run/credentials" },
  });
});

test.each([
  { ANTIPHON_REPO_URLS: "https://me:secret@git.example.com/acme" },
  { ANTIPHON_REPO_URLS: "ext::sh" },
  { ANTIPHON_GIT_CREDENTIALS: "credentials" },
  { ANTIPHON_GIT_SSH_KEY: "./key" },
])("%j is refused by name, without quoting a password", (env) => {
  const [variable] = Object.keys(env);
  expect(() => readDirectorConfig(env)).toThrow(
    expect.objectContaining({ code: "ANT_CONFIG_INVALID", data: { variable } }),
  );
  expect(() => readDirectorConfig(env)).not.toThrow(/secret/);
});

test("a root that is not an absolute path is refused by name", () => {
  expect(() => readDirectorConfig({ ANTIPHON_REPO_ROOTS: "/srv/a:repos" })).toThrow(/"repos"/);
});

test("the store of base trees has a bound, which may be set", () => {
  expect(readDirectorConfig({}).repoStoreBytes).toBe(8 * 1024 ** 3);
  expect(readDirectorConfig({ ANTIPHON_REPO_STORE_BYTES: "1000" }).repoStoreBytes).toBe(1000);
  for (const text of ["8G", "-1", "1.5"])
    expect(() => readDirectorConfig({ ANTIPHON_REPO_STORE_BYTES: text })).toThrow(
      /ANTIPHON_REPO_STORE_BYTES="/,
    );
});

test("bases are stored as steps only where the deployment says that everybody can read them", () => {
  expect(readDirectorConfig({}).baseSteps).toBe(false);
  expect(readDirectorConfig({ ANTIPHON_BASE_STEPS: "off" }).baseSteps).toBe(false);
  expect(readDirectorConfig({ ANTIPHON_BASE_STEPS: "on" }).baseSteps).toBe(true);
  expect(() => readDirectorConfig({ ANTIPHON_BASE_STEPS: "yes" })).toThrow(/ANTIPHON_BASE_STEPS="/);
});

test.each(["soon", "0", "-5", "1.5"])("ANTIPHON_ARCHIVE_AFTER_S=%s is refused by name", (text) => {
  expect(() => readDirectorConfig({ ANTIPHON_ARCHIVE_AFTER_S: text })).toThrow(/ANTIPHON_ARCHIVE_AFTER_S="/);
});

test("finished runs stay in the journal for a day, for the time that is set, or for good", () => {
  expect(readDirectorConfig({}).archive?.afterMs).toBe(86_400_000);
  expect(readDirectorConfig({ ANTIPHON_ARCHIVE_AFTER_S: "60" }).archive?.afterMs).toBe(60_000);
  expect(readDirectorConfig({ ANTIPHON_ARCHIVE_AFTER_S: "never" }).archive).toBeNull();
});
