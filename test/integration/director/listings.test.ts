/** What a Director remembers of a repository's commits. */
import { rmSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { createLogger, type Blobs } from "@antiphon/runtime";
import { Repositories } from "../../../services/director/src/repositories/repositories.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";

const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };
const refuse = (): never => {
  throw new Error("something is stored");
};
/** Neither a listing nor an inspection stores anything. */
const noBlobs = { has: refuse, get: refuse, put: refuse } as unknown as Blobs;
const open = (): Repositories =>
  new Repositories(noBlobs, { roots: null }, signer, createLogger("test", { level: "silent" }));

afterEach(() => cleanUpRepos());

it("does not remember that a commit could not be listed, so one that is fetched later is found", async () => {
  const [repo, source] = [makeRepo(), makeRepo()];
  const repositories = open();
  const at = { name: "r", path: repo.path };
  const next = source.commit("next", { "next.txt": "next\n" });
  await expect(repositories.listing(at, next)).rejects.toMatchObject({ code: "ANT_REPO_INCOMPLETE" });
  repo.git("fetch", "--quiet", source.path, next);
  expect((await repositories.listing(at, next)).paths).toContain("next.txt");
});

it("refuses a repository that is gone although its commit was listed", async () => {
  const repo = makeRepo();
  const repositories = open();
  const at = { name: "r", path: repo.path };
  await repositories.listing(at, repo.head);
  rmSync(repo.path, { recursive: true });
  await expect(repositories.listing(at, repo.head)).rejects.toMatchObject({ code: "ANT_REPO_NOT_FOUND" });
});

it("lists a commit once, and each of two repositories for itself", async () => {
  const [one, other] = [makeRepo({ files: { a: "1" } }), makeRepo({ files: { a: "1" } })];
  const repositories = open();
  const listing = (repo: typeof one) => repositories.listing({ name: "r", path: repo.path }, repo.head);
  expect(await listing(one)).toBe(await listing(one));
  expect(other.head).toBe(one.head);
  expect(await listing(other)).not.toBe(await listing(one));
});

it("stores nothing for an inspection, because what is inspected may yet be refused", async () => {
  const repo = makeRepo({ files: { a: "1" } });
  const asked: string[] = [];
  const told = (what: string) => (name: string) => Promise.resolve(void asked.push(`${what} ${name}`));
  const blobs = { want: told("want"), get: told("get"), put: told("put") } as unknown as Blobs;
  const log = createLogger("test", { level: "silent" });
  const repositories = new Repositories(blobs, { roots: null }, signer, log);
  const at = { name: "r", path: repo.path };
  const { base } = await repositories.inspect({ repo: at });
  expect(base.commit).toBe(repo.head);
  // An export that the inspection had begun would be over before this one.
  const next = repo.commit("next", { a: "2" });
  const { object } = await repositories.exportBase(at, next);
  expect(asked).toEqual([`want ${object}`, `put ${object}`]);
});
