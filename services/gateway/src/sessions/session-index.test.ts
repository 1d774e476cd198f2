import { limits } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { SessionIndex, type OpenedSession } from "./session-index.ts";

const NOW = 1_000_000_000_000;
const opened = (seq: number, at = NOW): OpenedSession => ({ sessionId: `ses_${seq}`, seq, at: new Date(at) });

/** A stream with these sessions, of which two are read at once, and where each reading began. */
function stream(all: OpenedSession[]) {
  const asked: number[] = [];
  const read = async (from: number): Promise<readonly OpenedSession[]> => {
    asked.push(from);
    return all.filter(({ seq }) => seq >= from).slice(0, 2);
  };
  return { all, asked, index: new SessionIndex(read, () => NOW) };
}
const idsOf = async (index: SessionIndex, limit: number, below = Infinity): Promise<[string[], boolean]> => {
  const { sessions, more } = await index.page(limit, below);
  return [sessions.map(({ sessionId }) => sessionId), more];
};

test("the newest come first, page by page, and the last page says that it is", async () => {
  const { index } = stream([1, 4, 6, 9, 12].map((seq) => opened(seq)));
  expect(await idsOf(index, 2)).toEqual([["ses_12", "ses_9"], true]);
  expect(await idsOf(index, 2, 9)).toEqual([["ses_6", "ses_4"], true]);
  expect(await idsOf(index, 2, 4)).toEqual([["ses_1"], false]);
});

test("each session is read once; those that were opened since are found", async () => {
  const { all, asked, index } = stream([opened(1), opened(4)]);
  await Promise.all([index.page(10, Infinity), index.page(10, Infinity)]);
  all.push(opened(7));
  expect(await idsOf(index, 10)).toEqual([["ses_7", "ses_4", "ses_1"], false]);
  expect(asked).toEqual([1, 5, 5, 8]);
});

test("a session that the stream has dropped is left out", async () => {
  const { index } = stream([opened(1, NOW - limits.sessionKeepS * 1000 - 1), opened(2)]);
  expect(await idsOf(index, 10)).toEqual([["ses_2"], false]);
});
