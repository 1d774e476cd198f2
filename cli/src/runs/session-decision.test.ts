import { expect, test } from "vitest";
import { isSessionId, waitingRequest } from "./session-decision.ts";

const gateway = (...ids: string[]) => ({
  get: () => Promise.resolve({ approvals: ids.map((commandId) => ({ commandId })) } as never),
});

test("the only request that waits is meant, or the one that is named", async () => {
  expect(await waitingRequest(gateway("C-1"), "ses_a", undefined)).toEqual({ commandId: "C-1" });
  expect(await waitingRequest(gateway("C-1", "C-2"), "ses_a", "C-2")).toEqual({ commandId: "C-2" });
});

test("several requests are listed instead of one being chosen, and none is said so", async () => {
  await expect(waitingRequest(gateway("C-1", "C-2"), "ses_a", undefined)).rejects.toMatchObject({
    code: "ANT_USAGE",
    message: "ses_a waits for decisions about C-1, C-2",
  });
  for (const named of [undefined, "C-9"])
    await expect(waitingRequest(gateway(), "ses_a", named)).rejects.toMatchObject({
      code: "ANT_SESSION_NOT_WAITING",
    });
});

test.each([
  ["ses_0a9", true],
  ["run_0a9", false],
  ["ses_", false],
  ["ses_../x", false],
])("%s is a session's id: %s", (text, is) => {
  expect(isSessionId(text)).toBe(is);
});
