/** Which repositories of the machine are served, with real repositories and links. */
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLogger } from "@antiphon/runtime";
import { openServed } from "@antiphon/git";
import { natsBackend } from "../../../services/gateway/src/backend/nats-backend.ts";
import { errorOf, intentFor, openWorld } from "../gateway/gateway-world.ts";

let place: string;
let root: string;
let secret: string;

const git = (cwd: string, ...args: string[]): void => {
  const who = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"];
  execFileSync("git", [...who, "-C", cwd, ...args], { stdio: "pipe" });
};
function repository(path: string): string {
  mkdirSync(path, { recursive: true });
  git(path, "init", "-q");
  writeFileSync(join(path, "a.txt"), "a\n");
  git(path, "add", "a.txt");
  git(path, "commit", "-q", "-m", "first");
  return path;
}

beforeAll(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "antiphon-roots-")));
  root = join(place, "root");
  repository(place); // The roots lie in a repository themselves.
  repository(join(root, "own"));
  secret = repository(join(place, "secret"));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

describe("a repository in the roots", () => {
  it("is served, and so are its sub-directories, its work trees and repositories that borrow within the roots", async () => {
    mkdirSync(join(root, "own", "sub"), { recursive: true });
    git(join(root, "own"), "worktree", "add", "-q", join(root, "tree"), "-b", "topic");
    git(root, "clone", "-q", "--shared", join(root, "own"), join(root, "borrower"));
    for (const name of ["own", "own/sub", "tree", "borrower", "own/../own"])
      expect([name, (await openServed(join(root, name), [root])).top]).toEqual([name, expect.any(String)]);
  });

  const WAYS: [string, () => string][] = [
    ["a path", () => secret],
    ["dots", () => join(root, "own") + "/../../secret"],
    [
      "a link",
      () => {
        symlinkSync(secret, join(root, "link"));
        return join(root, "link");
      },
    ],
    [
      "a directory in which git looks further up",
      () => {
        mkdirSync(join(root, "plain"));
        return join(root, "plain");
      },
    ],
    [
      "a .git file",
      () => {
        mkdirSync(join(root, "pointer"));
        writeFileSync(join(root, "pointer", ".git"), `gitdir: ${join(secret, ".git")}\n`);
        return join(root, "pointer");
      },
    ],
    [
      "a .git that is a link",
      () => {
        mkdirSync(join(root, "linked"));
        symlinkSync(join(secret, ".git"), join(root, "linked", ".git"));
        return join(root, "linked");
      },
    ],
    [
      "alternates",
      () => {
        git(root, "clone", "-q", "--shared", secret, join(root, "thief"));
        return join(root, "thief");
      },
    ],
    [
      "alternates of alternates",
      () => {
        git(place, "clone", "-q", "--shared", secret, join(root, "middle"));
        git(place, "clone", "-q", "--shared", join(root, "middle"), join(root, "second"));
        return join(root, "second");
      },
    ],
    [
      "a work tree of a repository elsewhere",
      () => {
        git(secret, "worktree", "add", "-q", join(root, "branch"), "-b", "side");
        return join(root, "branch");
      },
    ],
    [
      "an object directory that is a link",
      () => {
        const path = repository(join(root, "swapped"));
        rmSync(join(path, ".git", "objects"), { recursive: true });
        symlinkSync(join(secret, ".git", "objects"), join(path, ".git", "objects"));
        return path;
      },
    ],
    [
      "branches that are a link",
      () => {
        const path = repository(join(root, "branches"));
        renameSync(join(path, ".git", "refs", "heads"), join(path, ".git", "old"));
        symlinkSync(join(secret, ".git", "refs", "heads"), join(path, ".git", "refs", "heads"));
        return path;
      },
    ],
    ["a root whose name only begins alike", () => repository(`${root}-2`)],
    ["nothing", () => join(root, "nowhere")],
  ];

  it.each(WAYS)(
    "cannot be left by %s, and gets the same answer as a missing repository",
    async (_way, make) => {
      const path = make();
      await expect(openServed(path, [root])).rejects.toMatchObject({
        code: "ANT_REPO_NOT_FOUND",
        message: `there is no repository at ${path} that is served here`,
      });
    },
  );

  it("is not served where no roots are set but are needed", async () => {
    await expect(openServed(join(root, "own"), [])).rejects.toMatchObject({ code: "ANT_REPO_ROOTS_UNSET" });
    expect((await openServed(secret, null)).top).toBe(secret);
  });
});

it("a Director without roots tells a gateway beyond loopback nothing", async () => {
  const world = await openWorld();
  try {
    const backend = natsBackend(world.bus, createLogger("test", { level: "silent" }), {
      maxOpenRuns: 10,
      confined: true,
    });
    const asked = backend.inspect({ repo: { name: "own", path: join(root, "own") } });
    await expect(asked).rejects.toMatchObject({ code: "ANT_REPO_ROOTS_UNSET" });
  } finally {
    await world.close();
  }
});

it("the Director answers nothing about a repository outside its roots", async () => {
  const world = await openWorld({}, {}, { repoRoots: [root] });
  try {
    const start = async (path: string): Promise<unknown> => {
      const made = await world.call("POST", "/intents", { body: intentFor(path) });
      const answer = await world.call("POST", `/intents/${String(made.body.intentId)}/run`);
      return errorOf(answer).code ?? answer.status;
    };
    expect(await start(join(root, "own"))).toBe(202);
    expect(await start(secret)).toBe("ANT_REPO_NOT_FOUND");
    expect(await start(join(place, "nowhere"))).toBe("ANT_REPO_NOT_FOUND");
  } finally {
    await world.close();
  }
});
