import { expect, test } from "vitest";
import type { RunLine } from "../api/run-record.ts";
import type { RunPage } from "@antiphon/client";
import { followed, refreshed } from "./run-pages.ts";

const page = (ids: string, next: string | null): RunPage => ({
  runs: [...ids].map((runId) => ({ runId, status: ids })) as unknown as RunLine[],
  next,
});
const ids = ({ runs }: RunPage): string => runs.map(({ runId }) => runId).join("");

test("the newest page read again shows new runs and new statuses, and keeps what they pushed off", () => {
  const before = refreshed(null, page("dcb", "after b"));
  const now = refreshed(before, page("fed", "after d"));
  expect([ids(now), now.next]).toEqual(["fedcb", "after b"]);
  expect(now.runs.find(({ runId }) => runId === "d")?.status).toBe("fed");
});

test("older runs follow without a gap", () => {
  expect(ids(followed(refreshed(page("cb", "after b"), page("dc", "after c")), page("a", null)))).toBe(
    "dcba",
  );
});
