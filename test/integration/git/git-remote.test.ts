/** Repositories by URL, over real git servers on loopback: what is fetched, how a landing is a compare-and-set. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  buildCommit,
  Mirrors,
  missingCommits,
  packOf,
  pushRef,
  unpackInto,
  type RemoteAccess,
} from "@antiphon/git";
import { createLogger } from "@antiphon/runtime";
import { MemoryBlobs } from "@antiphon/runtime/testing/memory-blobs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RemoteRepositories } from "../../../services/director/src/repositories/remote-repositories.ts";
import { Repositories } from "../../../services/director/src/repositories/repositories.ts";
import { gitDaemon, gitHttp, publish, refusePushes, type GitServer } from "../../support/git-servers.ts";
import { cleanUpRepos, makeRepo, tempDir, type TestRepo } from "../../support/repo.ts";

const PASSWORD = "s3cret-of-the-deployment";
const RUN = "refs/heads/antiphon/run_1";

let served: string;
let daemon: GitServer;
let web: Awaited<ReturnType<typeof gitHttp>>;
let access: RemoteAccess;
beforeAll(async () => {
  served = tempDir();
  daemon = await gitDaemon(served);
  web = await gitHttp(served, "antiphon", PASSWORD);
  const credentialsFile = join(tempDir(), "credentials");
  writeFileSync(credentialsFile, `${web.url.replace("//", `//antiphon:${PASSWORD}@`)}\n`, { mode: 0o600 });
  access = { credentialsFile };
});
afterAll(async () => {
  await daemon.close();
  await web.close();
  cleanUpRepos();
});

interface World {
  readonly source: TestRepo;
  readonly bare: string;
  readonly name: string;
  /** The published commit, and one on top of it. */
  readonly first: string;
  readonly next: string;
  readonly mirrors: Mirrors;
}

let count = 0;
/** A published repository with one commit, and a commit on top of it that only `source` has. */
function world(): World {
  const source = makeRepo({ files: { "a.txt": "one\n" } });
  const name = `app${(count += 1)}.git`;
  const bare = publish(source.path, served, name);
  const first = source.head;
  const next = source.commit("two", { "a.txt": "two\n" });
  return { source, bare, name, first, next, mirrors: new Mirrors(tempDir(), access) };
}

const at = (bare: string, ref: string): string | null => {
  try {
    const args = ["-C", bare, "rev-parse", "--verify", "--quiet", ref];
    return execFileSync("git", args, { encoding: "utf8" }).trim();
  } catch {
    return null;
  }
};
/** A commit that the remote does not have, brought into the mirror as a Director builds it there. */
async function built(
  { mirrors, source, first }: Omit<World, "bare" | "name" | "next">,
  url: string,
  commit: string,
) {
  const repo = await mirrors.open(url);
  const pack = execFileSync("git", ["-C", source.path, "pack-objects", "--revs", "--stdout", "--quiet"], {
    input: `${commit}\n^${first}\n`,
  });
  await unpackInto(repo, pack);
  return repo;
}

describe.each([
  ["git daemon", () => daemon.url],
  ["git http-backend with a password", () => web.url],
  ["a file URL", () => `file://${served}`],
])("a repository by URL: %s", (_kind, base) => {
  test("is fetched with its default branch, and fetched again when it has moved", async () => {
    const here = world();
    const { source, bare, name, first, next, mirrors } = here;
    const url = `${base()}/${name}`;
    const copy = await mirrors.open(url);
    expect(copy.bare).toBe(true);
    expect(at(copy.gitDir, "HEAD")).toBe(first);
    source.git("push", "--quiet", bare, `${next}:refs/heads/main`);
    expect(await missingCommits(copy, [next])).toEqual([next]);
    expect(at((await mirrors.refreshed(url)).gitDir, "refs/heads/main")).toBe(next);
    expect(await mirrors.tip(url, "refs/heads/main")).toBe(next);
    expect(await mirrors.tip(url, "refs/heads/none")).toBeNull();
  });

  test("git/G3: a landing moves the branch once; the same landing again is `already`, another one finds it moved", async () => {
    const here = world();
    const { source, bare, name, first, next, mirrors } = here;
    const url = `${base()}/${name}`;
    const repo = await built(here, url, next);
    const landing = { ref: RUN, next, old: null };
    expect(await pushRef(mirrors, url, repo, landing)).toMatchObject({ kind: "landed" });
    expect(at(bare, RUN)).toBe(next);
    expect(await pushRef(mirrors, url, repo, landing)).toMatchObject({ kind: "already" });
    const other = { ref: RUN, next: first, old: null };
    expect(await pushRef(mirrors, url, repo, other)).toEqual({ kind: "already", actual: next });
    const main = { ref: "refs/heads/main", next, old: first };
    source.git("checkout", "--quiet", first);
    const rival = source.commit("rival", { "b.txt": "b\n" });
    source.git("push", "--quiet", "--force", bare, `${rival}:refs/heads/main`);
    expect(await pushRef(mirrors, url, repo, main)).toEqual({ kind: "moved", actual: rival });
    expect(at(bare, "refs/heads/main")).toBe(rival);
  });
});

describe("a repository by URL", () => {
  test("git/G3: a landing on which others have built since is `already`, and a commit that does not build on the head is refused", async () => {
    const here = world();
    const { source, bare, name, first, next, mirrors } = here;
    const url = `${daemon.url}/${name}`;
    const repo = await built(here, url, next);
    const landing = { ref: "refs/heads/main", next, old: first };
    await pushRef(mirrors, url, repo, landing);
    const later = source.commit("three", { "a.txt": "three\n" });
    source.git("push", "--quiet", bare, `${later}:refs/heads/main`);
    expect(await pushRef(mirrors, url, repo, landing)).toEqual({ kind: "already", actual: later });
    source.git("checkout", "--quiet", first);
    const aside = source.commit("aside", { "c.txt": "c\n" });
    await built(here, url, aside);
    const back = { ref: "refs/heads/main", next: aside, old: later };
    await expect(pushRef(mirrors, url, repo, back)).rejects.toMatchObject({ code: "ANT_LANDING_REWIND" });
  });

  test("of two Directors that land at once, one lands and the other finds the branch moved", async () => {
    const here = world();
    const { source, bare, name, first, next, mirrors } = here;
    const url = `${daemon.url}/${name}`;
    const repo = await built(here, url, next);
    source.git("checkout", "--quiet", first);
    const rival = source.commit("rival", { "b.txt": "b\n" });
    const others = new Mirrors(tempDir(), access);
    const theirs = await built({ ...here, mirrors: others }, url, rival);
    const old = first;
    const ends = await Promise.all([
      pushRef(mirrors, url, repo, { ref: "refs/heads/main", next, old }),
      pushRef(others, url, theirs, { ref: "refs/heads/main", next: rival, old }),
    ]);
    expect(ends.map(({ kind }) => kind).sort()).toEqual(["landed", "moved"]);
    expect([next, rival]).toContain(at(bare, "refs/heads/main"));
  });

  test("a push that the server's rules refuse is final and says why", async () => {
    const here = world();
    const { bare, name, next, mirrors } = here;
    refusePushes(bare, "protected branch");
    const url = `${daemon.url}/${name}`;
    const repo = await built(here, url, next);
    await expect(pushRef(mirrors, url, repo, { ref: RUN, next, old: null })).rejects.toMatchObject({
      code: "ANT_LANDING_REMOTE_REFUSED",
      disposition: "terminal",
      detail: expect.stringMatching(/hook declined; protected branch$/) as string,
    });
    expect(at(bare, RUN)).toBeNull();
  });

  test("git/G1: hooks of a repository behind a file URL do not run here", async () => {
    const here = world();
    const { bare, name, next, mirrors } = here;
    refusePushes(bare, "ran");
    const url = `file://${served}/${name}`;
    const repo = await built(here, url, next);
    expect(await pushRef(mirrors, url, repo, { ref: RUN, next, old: null })).toMatchObject({
      kind: "landed",
    });
  });

  test("git/G1: programs that the configuration behind a file URL names do not run here", async () => {
    const here = world();
    const { bare, name, next, mirrors } = here;
    const [other, ran] = [tempDir(), join(tempDir(), "ran")];
    execFileSync("git", ["init", "-q", "--bare", other]);
    mkdirSync(join(bare, "objects/info"), { recursive: true });
    writeFileSync(join(bare, "objects/info/alternates"), `${other}/objects\n`);
    for (const key of ["core.alternateRefsCommand", "core.fsmonitor"])
      execFileSync("git", ["-C", bare, "config", key, `touch ${ran}; true`]);
    const url = `file://${served}/${name}`;
    const repo = await built(here, url, next);
    expect(await pushRef(mirrors, url, repo, { ref: RUN, next, old: null })).toMatchObject({
      kind: "landed",
    });
    expect(existsSync(ran)).toBe(false);
  });

  test("a wrong password, an absent repository and a server that is down have codes of their own, without the password", async () => {
    const { name } = world();
    const wrong = join(tempDir(), "credentials");
    writeFileSync(wrong, `${web.url.replace("//", `//antiphon:not-${PASSWORD}@`)}\n`);
    const denied = new Mirrors(tempDir(), { credentialsFile: wrong });
    const error = await denied.open(`${web.url}/${name}`).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code: "ANT_REPO_REMOTE_DENIED", disposition: "retry" });
    expect(JSON.stringify(error)).not.toContain(PASSWORD);
    expect(readFileSync(wrong, "utf8")).toContain(PASSWORD); // git did not have the file forget it
    const mirrors = new Mirrors(tempDir(), access);
    await expect(mirrors.open(`${web.url}/none.git`)).rejects.toMatchObject({ code: "ANT_REPO_NOT_FOUND" });
    await expect(mirrors.open(`${daemon.url}/none.git`)).rejects.toMatchObject({
      code: "ANT_REPO_NOT_FOUND",
    });
    await expect(mirrors.open("git://127.0.0.1:1/app.git")).rejects.toMatchObject({
      code: "ANT_REPO_REMOTE_UNREACHABLE",
      disposition: "retry",
    });
    expect(readdirSync(mirrors.directory)).toEqual([]);
  });

  test("the password is sent to its own host only, and is in no file of the copy", async () => {
    const { name, mirrors } = world();
    await mirrors.open(`${web.url}/${name}`);
    expect(web.seen.length).toBeGreaterThan(0);
    const found = execFileSync("sh", ["-c", `grep -r -l '${PASSWORD}' '${mirrors.directory}' || true`]);
    expect(found.toString()).toBe("");
    const other = await gitHttp(served, "antiphon", PASSWORD);
    await mirrors.open(`${other.url}/${name}`).catch(() => undefined);
    expect(other.seen).toEqual([]);
    await other.close();
  });

  test("many callers at once share updates, and each sees the branches as they were after it asked", async () => {
    const here = world();
    const { source, bare, name, next, mirrors } = here;
    const url = `${daemon.url}/${name}`;
    const before = [mirrors.refreshed(url), mirrors.refreshed(url)];
    source.git("push", "--quiet", bare, `${next}:refs/heads/main`);
    const after = await Promise.all([mirrors.refreshed(url), mirrors.refreshed(url)]);
    await Promise.all(before);
    for (const repo of after) expect(await missingCommits(repo, [next])).toEqual([]);
  });

  test("a kept pack brings a commit from one copy to another", async () => {
    const here = world();
    const { name, first, next } = here;
    const url = `${daemon.url}/${name}`;
    const repo = await built(here, url, next);
    const others = new Mirrors(tempDir(), access);
    const theirs = await others.open(url);
    expect(await missingCommits(theirs, [next])).toEqual([next]);
    await unpackInto(theirs, await packOf(repo, next, first));
    expect(await missingCommits(theirs, [next])).toEqual([]);
    expect(await pushRef(others, url, theirs, { ref: RUN, next, old: null })).toMatchObject({
      kind: "landed",
    });
  });

  test("a Director lands a commit that another one built in its own copy; a prefix decides what is served", async () => {
    const { name, first, bare } = world();
    const url = `${daemon.url}/${name}`;
    const store = new MemoryBlobs("ANT_REPOS");
    const remotes = () =>
      new RemoteRepositories({ prefixes: [daemon.url], directory: tempDir(), access }, store);
    const [one, other] = [remotes(), remotes()];
    const repo = await one.open(url, [first]);
    const commit = await buildCommit(repo, {
      parent: first,
      tree: at(repo.gitDir, `${first}^{tree}`) ?? "",
      message: "built",
      trailers: {},
      at: new Date(0),
    });
    await expect(other.land(url, RUN, commit, null)).rejects.toMatchObject({
      code: "ANT_LANDING_COMMIT_GONE",
    });
    await one.keep(repo, commit, first);
    expect(await other.land(url, RUN, commit, null)).toMatchObject({ kind: "landed" });
    expect(await one.land(url, RUN, commit, null)).toMatchObject({ kind: "landed" });
    expect(at(bare, RUN)).toBe(commit);
    expect(one.urlOf({ name, path: url })).toBe(url);
    expect(one.urlOf({ name, path: "/srv/app" })).toBeNull();
    expect(() => one.urlOf({ name, path: `${web.url}/${name}` })).toThrow(
      expect.objectContaining({ code: "ANT_REPO_URL_REFUSED" }),
    );
  });

  test("a Director reads each change that another one moved to the new tip of a branch, not only the last", async () => {
    const { name, first, source, bare } = world();
    const url = `${daemon.url}/${name}`;
    const repo = { name, path: url };
    const store = new MemoryBlobs("ANT_REPOS");
    const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };
    const director = () => {
      const remotes = new RemoteRepositories({ prefixes: [daemon.url], directory: tempDir(), access }, store);
      const log = createLogger("test", { level: "silent" });
      return new Repositories(store, { roots: null, remotes }, signer, log);
    };
    const begin = (files: Record<string, string>): string => {
      source.git("reset", "--quiet", "--hard", first);
      return source.commit("a change", files);
    };
    const tip = begin({ "moved.txt": "on\n" });
    source.git("push", "--quiet", bare, `${tip}:refs/heads/moved`);
    begin({ "b.txt": "b\n" });
    const last = source.commit("another change", { "c.txt": "c\n" });
    source.git("push", "--quiet", bare, `${last}:refs/heads/of-the-run`);
    const [one, other] = [director(), director()];
    const replayed = await one.replayOnto(repo, first, last, tip);
    if (replayed.kind === "conflict") throw new Error(replayed.message);
    expect(replayed.commits).toHaveLength(2);
    for (const { head, commit } of replayed.commits)
      expect((await other.diff(repo, head, commit)).toString()).toContain("+++ b/");
  });
});
