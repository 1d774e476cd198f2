import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { digestOf, encode } from "@antiphon/contracts";
import type { DirectorKey } from "@antiphon/contracts";
import { signatureText, signedBytes } from "@antiphon/contracts/stored/signature";
import { openDecisions } from "./decisions.ts";
import { GatewayClient } from "../gateway/gateway-client.ts";
import type { RunRecord } from "../gateway/gateway-client.ts";

const pair = generateKeyPairSync("ed25519");
const { x = "" } = pair.publicKey.export({ format: "jwk" });
const kid = createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");
const KEY: DirectorKey = { kty: "OKP", crv: "Ed25519", x, kid, use: "sig" };

class Published extends GatewayClient {
  readonly #keys: DirectorKey[];
  constructor(keys: DirectorKey[]) {
    super("http://127.0.0.1:1", null);
    this.#keys = keys;
  }
  override get<T>(): Promise<T> {
    return Promise.resolve({ keys: this.#keys } as T);
  }
}

function landing(commit: string, signed = true): RunRecord {
  const content = {
    v: 1,
    type: "landing",
    runId: "run_a",
    taskId: "T1",
    epoch: 1,
    cause: { seq: 6, digest: "sha256-x" },
    body: { kind: "landed", ref: "refs/heads/antiphon/run_a", commit, previous: null },
  } as const;
  const digest = digestOf(encode(content));
  const value = sign(null, signedBytes(digest), pair.privateKey).toString("base64url");
  const stored = { ...content, seq: 7, digest, at: "2026-11-22T00:00:00.000Z" };
  return signed ? { ...stored, signature: signatureText({ kid, value }) } : stored;
}

const open = (trusted: string[] = [], keys = [KEY]) => openDecisions(new Published(keys), trusted);
const refusal = { code: "ANT_SIGNATURE_INVALID" };

describe("Director responses", () => {
  test("are signed by the Director and verified before they are shown", async () => {
    const decisions = open();
    await decisions.check(landing("a".repeat(40)));
    expect(decisions.words).toBe(`director ${kid.slice(0, 12)}: 1 decision verified`);
  });

  test("cli/C1: a decision whose content was changed in transit is refused, regardless of the digest it claims", async () => {
    const good = landing("a".repeat(40));
    const changed = { ...good, body: { ...good.body, commit: "b".repeat(40) } } as RunRecord;
    await expect(open().check(changed)).rejects.toMatchObject(refusal);
    const { digest } = landing("b".repeat(40));
    await expect(open().check({ ...changed, digest })).rejects.toMatchObject(refusal);
  });

  test("cli/C1: a signature by an unpublished key, or by a key published under another id, is refused", async () => {
    await expect(open([], []).check(landing("a"))).rejects.toMatchObject(refusal);
    const other = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
    const impostor = { ...KEY, x: other.x ?? "" };
    await expect(open([], [impostor]).check(landing("a"))).rejects.toMatchObject(refusal);
  });

  test("a malformed signature is refused", async () => {
    const good = landing("a");
    await expect(open().check({ ...good, signature: kid })).rejects.toMatchObject(refusal);
  });

  test("cli/C1: a key outside ANTIPHON_DIRECTOR_KEYS is refused, and so is a decision without a signature", async () => {
    await open([kid]).check(landing("a"));
    await expect(open(["k".repeat(43)]).check(landing("a"))).rejects.toMatchObject(refusal);
    await expect(open([kid]).check(landing("a", false))).rejects.toMatchObject(refusal);
    await expect(open().check(landing("a", false))).rejects.toMatchObject(refusal);
  });
});
