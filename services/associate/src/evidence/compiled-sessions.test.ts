import { AntiphonError } from "@antiphon/contracts";
import type { Blobs, Kv } from "@antiphon/runtime";
import { describe, expect, it } from "vitest";
import { compiledSessions } from "./compiled-sessions.ts";

const blob = { bucket: "B", name: "b", digest: `sha256-${"A".repeat(43)}`, bytes: 1 };
const ORIGIN = { run: "run_1", task: "T-001", epoch: 1, blob };
const SESSION = { change: { diff: null, files: [] } };

function storesWith(decision: string | null, isGone = false) {
  const documents = new Map<string, unknown>([["k", ORIGIN]]);
  const index = {
    get: (key: string) =>
      Promise.resolve(documents.has(key) ? { value: documents.get(key), revision: 1 } : null),
    put: (key: string, document: unknown) => Promise.resolve(documents.set(key, document).size),
  } as unknown as Kv;
  const manifests = {
    get: (key: string) =>
      Promise.resolve(
        decision !== null && key === "run_1.T-001.1.verdict" ? { value: { decision }, revision: 1 } : null,
      ),
  } as unknown as Kv;
  const files = {
    get: () =>
      isGone
        ? Promise.reject(new AntiphonError("ANT_BLOB_MISSING", "gone"))
        : Promise.resolve(Buffer.from(JSON.stringify(SESSION))),
  } as unknown as Blobs;
  return { documents, sessions: compiledSessions(index, manifests, files) };
}

describe("a session of an agent that compiles", () => {
  it("is found once the clean room has passed its change, and stays then", async () => {
    const { documents, sessions } = storesWith("PASS");
    expect(await sessions.find("k")).toEqual(SESSION);
    expect(await sessions.find("other")).toBeNull();
    await sessions.keep("k", { ...ORIGIN, run: "run_2" });
    expect(documents.get("k")).toEqual(ORIGIN);
  });

  it.each([["FAIL"], ["UNVERIFIABLE"], [null]])(
    "is not found with the verdict %s, and another attempt takes its place",
    async (decision) => {
      const { documents, sessions } = storesWith(decision);
      expect(await sessions.find("k")).toBeNull();
      await sessions.keep("k", { ...ORIGIN, run: "run_2" });
      expect(documents.get("k")).toMatchObject({ run: "run_2" });
    },
  );

  it("is not found if its evidence was removed", async () => {
    expect(await storesWith("PASS", true).sessions.find("k")).toBeNull();
  });
});
