import { AntiphonError, limits, type CheckOutcome, type RepoCheckRequest } from "@antiphon/contracts";
import { expect, test, vi } from "vitest";
import type { CandidateOutcome, RoomOutcome, RoomRequest } from "../ports.ts";
import { RepoChecks, type RepoCheckParts } from "./repo-checks.ts";

const REQUEST: RepoCheckRequest = {
  checkId: "chk_1",
  repo: { name: "app", path: "/app" },
  commit: "a".repeat(40),
  patch: null,
  checks: ["make test"],
  image: null,
  budgetMs: 1_000,
};
const TREE = { commit: REQUEST.commit, tree: "b".repeat(40), object: "tree.tar", bytes: 1, files: 1 };
const outcome = (command: string): CheckOutcome => ({
  ...{ command, exitCode: 0, timedOut: false, durationMs: 1, stdout: null, stderr: null, tail: "" },
});
const once = (checks: CheckOutcome[]): RoomOutcome => ({ trials: [checks], written: null });

interface Overrides {
  room?: (request: RoomRequest, signal: AbortSignal) => Promise<RoomOutcome>;
  candidate?: CandidateOutcome;
  found?: string[];
  others?: string[];
  onCanceled?: RepoCheckParts["onCanceled"];
  tell?: RepoCheckParts["tell"];
}

function checksOver(over: Overrides = {}): RepoChecks {
  const refused: CandidateOutcome = { kind: "refused", code: "ANT_PATCH_SYMLINK", message: "a: a link" };
  return new RepoChecks({
    repository: {
      candidate: () => Promise.resolve(over.candidate ?? refused),
      discoverChecks: () => Promise.resolve(over.found ?? []),
      otherChecks: () => Promise.resolve(over.others ?? []),
      exportHistory: () => Promise.resolve(null),
      exportBase: () => Promise.resolve(TREE),
    },
    room: { check: over.room ?? (({ checks }) => Promise.resolve(once(checks.map(outcome)))) },
    signal: new AbortController().signal,
    onCanceled: over.onCanceled ?? (() => () => undefined),
    tell: over.tell ?? (() => undefined),
  });
}

test("answers with the outcome of the named checks, or of those that the commit itself names", async () => {
  const said: unknown[] = [];
  await checksOver().answer(REQUEST, (event) => said.push(event));
  await checksOver({ found: ["npm test"] }).answer({ ...REQUEST, checks: [] }, (event) => said.push(event));
  const done = { kind: "done", commit: REQUEST.commit };
  expect(said).toEqual([
    { ...done, discovered: false, checks: [outcome("make test")] },
    { ...done, discovered: true, checks: [outcome("npm test")] },
  ]);
});

test("names the commit's other checks only if the one that it found does not pass", async () => {
  const events = async (others: string[], exitCode: number, checks: string[] = []): Promise<unknown[]> => {
    const said: unknown[] = [];
    const room: Overrides["room"] = () => Promise.resolve(once([{ ...outcome("make test"), exitCode }]));
    await checksOver({ found: ["make test"], others, room }).answer({ ...REQUEST, checks }, (event) =>
      said.push(event),
    );
    return said;
  };
  expect(await events(["go test ./..."], 127)).toMatchObject([{ others: ["go test ./..."] }]);
  for (const said of [
    await events(["go test ./..."], 0),
    await events([], 127),
    await events(["go test ./..."], 127, ["make test"]),
  ])
    expect(said[0]).not.toHaveProperty("others");
});

test("tells which check comes next, and how each one has ended", async () => {
  const told: unknown[] = [];
  const room: Overrides["room"] = ({ checks, news }) => {
    news?.started();
    checks.forEach((_, index) => news?.ended(index, index));
    return Promise.resolve(once(checks.map(outcome)));
  };
  const checks = checksOver({ room, tell: (...said) => told.push(said) });
  await checks.answer({ ...REQUEST, checks: ["make test", "make lint"] }, () => undefined);
  expect(told).toEqual(
    [
      "waiting for a sandbox",
      "running make test",
      "make test passed, running make lint",
      "make lint exited 1",
    ].map((text) => ["chk_1", text]),
  );
});

test("asks for no sandbox if there is no check", async () => {
  const room = vi.fn(() => Promise.resolve(once([])));
  const said: unknown[] = [];
  await checksOver({ room }).answer({ ...REQUEST, checks: [] }, (event) => said.push(event));
  expect(said).toEqual([{ kind: "done", commit: REQUEST.commit, discovered: true, checks: [] }]);
  expect(room).not.toHaveBeenCalled();
});

test("refuses a change by the rules for patches, with their code", async () => {
  const answer = checksOver().answer({ ...REQUEST, patch: "a link" }, () => undefined);
  await expect(answer).rejects.toMatchObject({ code: "ANT_PATCH_SYMLINK", detail: "a: a link" });
});

test("stops its sandbox when the caller has gone away, and stops listening for that", async () => {
  const stopListening = vi.fn();
  let cancel = (): void => undefined;
  const onCanceled: RepoCheckParts["onCanceled"] = (_id, canceled) => {
    cancel = canceled;
    return stopListening;
  };
  const room: Overrides["room"] = (_request, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new AntiphonError("ANT_SANDBOX_CANCELED", "canceled")));
      cancel();
    });
  const answer = checksOver({ room, onCanceled }).answer(REQUEST, () => undefined);
  await expect(answer).rejects.toMatchObject({ code: "ANT_SANDBOX_CANCELED" });
  expect(stopListening).toHaveBeenCalledOnce();
});

test("refuses one more than the bound of open checks, and accepts the next once one has ended", async () => {
  const endings: (() => void)[] = [];
  const room: Overrides["room"] = () => new Promise((resolve) => endings.push(() => resolve(once([]))));
  const checks = checksOver({ room });
  const open = Array.from({ length: limits.openChecks }, () => checks.answer(REQUEST, () => undefined));
  await expect(checks.answer(REQUEST, () => undefined)).rejects.toMatchObject({ code: "ANT_SANDBOX_BUSY" });
  await vi.waitFor(() => expect(endings).toHaveLength(limits.openChecks));
  endings[0]?.();
  await open[0];
  const next = checks.answer(REQUEST, () => undefined);
  await vi.waitFor(() => expect(endings).toHaveLength(limits.openChecks + 1));
  for (const end of endings) end();
  await Promise.all([...open, next]);
});
