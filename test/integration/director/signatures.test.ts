/** Signatures of a Director, checked by the programs that verify them: git itself, and another reader of the journal. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { NewRecord } from "@antiphon/contracts";
import { openJournal, openSigningKey, provision } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";
import { buildCommit, replayCommits, treeOf } from "@antiphon/git";
import type { CommitSigner } from "@antiphon/git";
import { allowedSigner } from "../../../cli/src/keys/allowed-signer.ts";
import { startNats } from "../../support/nats.ts";
import type { NatsServer } from "../../support/nats.ts";
import { cleanUpRepos, makeRepo, tempDir, type TestRepo } from "../../support/repo.ts";

const key = openSigningKey(null);
const signer: CommitSigner = {
  publicKey: Buffer.from(key.jwk.x, "base64url"),
  sign: (bytes) => key.sign(bytes),
};
const AT = new Date("2026-02-03T04:05:06Z");

function verifyCommit(repo: TestRepo, commit: string, { jwk } = key) {
  const file = join(tempDir(), "signers");
  writeFileSync(file, `${allowedSigner(jwk)}\n`);
  const args = ["-C", repo.path, "-c", `gpg.ssh.allowedSignersFile=${file}`, "verify-commit", commit];
  return spawnSync("git", args, { encoding: "utf8" });
}

async function signedCommit(repo: TestRepo, parent: string): Promise<string> {
  const tree = await treeOf(repo.path, parent);
  const message = "Change it\n\nWith a body.";
  return buildCommit(repo.path, {
    parent,
    tree,
    message,
    trailers: { "Antiphon-Run": "run_x" },
    at: AT,
    signer,
  });
}

describe("a signed commit", () => {
  afterEach(() => cleanUpRepos());

  test.each(["sha1", "sha256"] as const)("is verified by git itself (%s)", async (format) => {
    const repo = makeRepo({ format });
    const commit = await signedCommit(repo, repo.head);
    const { status, stderr } = verifyCommit(repo, commit);
    expect(stderr).toContain('Good "git" signature for antiphon@localhost');
    expect(status).toBe(0);
    expect(repo.git("log", "-1", "--format=%(trailers:only,unfold)", commit)).toContain(
      "Antiphon-Run: run_x",
    );
    repo.git("fsck", "--strict");
  });

  test("is not verified with another key, nor with another message under the same signature", async () => {
    const repo = makeRepo();
    const commit = await signedCommit(repo, repo.head);
    expect(verifyCommit(repo, commit, openSigningKey(null)).status).not.toBe(0);
    const text = repo.git("cat-file", "commit", commit).replace("Change it", "Break it!");
    const input = Buffer.from(text);
    const args = ["-C", repo.path, "hash-object", "-t", "commit", "-w", "--stdin"];
    const forged = execFileSync("git", args, { input, encoding: "utf8" }).trim();
    expect(verifyCommit(repo, forged).status).not.toBe(0);
  });

  test("has the same id when it is made again, and a new signature when it is replayed", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    expect(await signedCommit(repo, repo.head)).toBe(await signedCommit(repo, repo.head));
    const onto = repo.head;
    repo.git("checkout", "-q", "-b", "side");
    const changed = repo.commit("Change a", { "a.txt": "b\n" });
    repo.git("checkout", "-q", "-");
    const moved = repo.commit("Elsewhere", { "c.txt": "c\n" });
    const range = { from: onto, to: changed, onto: moved, signer };
    const replayed = await replayCommits(repo.path, range);
    expect(replayed.kind).toBe("replayed");
    expect(verifyCommit(repo, replayed.commit).status).toBe(0);
    expect(await replayCommits(repo.path, range)).toEqual(replayed);
  });
});

describe("a signed record", () => {
  let nats: NatsServer;
  let bus: Bus;
  beforeAll(async () => {
    nats = await startNats();
    bus = await nats.connect();
    await provision(bus);
  });
  afterAll(() => nats.close());

  const cause = { seq: 1, digest: "sha256-x" };
  const body = { kind: "refused", code: "ANT_LANDING_HEAD_MOVED", message: "moved" } as const;
  const landing = (epoch: number): NewRecord => ({
    type: "landing",
    runId: "run_s",
    taskId: "T-1",
    epoch,
    cause,
    body,
  });

  test("is the same record regardless of its signer: another Director's key makes no conflict", async () => {
    const first = await openJournal(bus, { key }).append(landing(1));
    const second = await openJournal(bus, { key: openSigningKey(null) }).append(landing(1));
    expect(first).toMatchObject({ kind: "appended" });
    if (second.kind !== "duplicate" || first.kind !== "appended") throw new Error(second.kind);
    expect(second.record.signature).toBe(first.record.signature);
    expect(second.record.signature).toContain(key.jwk.kid);
  });

  test("is signed only if it is a decision of a Director that has a key", async () => {
    await openJournal(bus, { key }).append({
      ...landing(2),
      type: "claim",
      body: { associate: "as_0a1b2c3d4e", incarnation: "i-1" },
    });
    await openJournal(bus).append(landing(3));
    const records = await openJournal(bus).read("run_s");
    expect(records.map(({ type, epoch, signature }) => [type, epoch, signature !== undefined])).toEqual([
      ["landing", 1, true],
      ["claim", 2, false],
      ["landing", 3, false],
    ]);
  });
});
