import { expect, test } from "vitest";
import { noteRefusal as note, type RefusalNotes } from "./refusal-notes.ts";

const noteRefusal = (notes: RefusalNotes, seen: Omit<Parameters<typeof note>[1], "method">): void =>
  note(notes, { method: "GET", ...seen });

const notes = (isSpent = false): RefusalNotes => ({
  isSpent,
  refusal: null,
  failures: { count: 0, last: null },
  hostsRefused: new Set(),
  firstRefused: null,
  firstFailed: null,
  isReached: false,
});
const over = (rule: string) => ({
  ...{ code: "ANT_EGRESS_BUDGET", why: "too small", rule, host: "models.test", decision: "refuse" as const },
});
const entry = { name: "m", reserved_tokens: 0, charged_tokens: 0, charged_usd_micro: 0, recording: null };

test("a call that the run has no budget for is noted, and one whose budget is used up is not", () => {
  const without = notes();
  noteRefusal(without, over("model:budget"));
  expect(without.refusal).toBe("ANT_EGRESS_BUDGET: too small");
  const spent = notes(true);
  noteRefusal(spent, over("model:budget"));
  expect(spent.refusal).toBeNull();
});

test("the newest call says whether an attempt ended with a model that failed", () => {
  const noted = notes();
  const call = { ...over("model:chat"), code: null, why: null, decision: "allow" as const };
  noteRefusal(noted, { ...call, model: { ...entry, failed: "models.test answered 500" } });
  noteRefusal(noted, { ...call, model: { ...entry, failed: "models.test answered 503" } });
  expect(noted.failures).toEqual({ count: 2, last: "models.test answered 503" });
  noteRefusal(noted, { ...call, model: entry });
  expect(noted.failures).toEqual({ count: 2, last: null });
});

test.each(["model:reserved", "model:account"])(
  "a budget that is busy or unreadable (%s) is not noted",
  (rule) => {
    const busy = notes();
    noteRefusal(busy, over(rule));
    expect(busy.refusal).toBeNull();
  },
);

test("the first refusal and the first failure of any kind are kept with their reasons, at most 400 characters", () => {
  const one = notes();
  noteRefusal(one, { ...over("model:call"), decision: "fault", why: "the server is away" });
  noteRefusal(one, { ...over("host:none"), code: "ANT_EGRESS_HOST", why: "w".repeat(500) });
  noteRefusal(one, over("model:budget"));
  expect(one.firstFailed).toBe("GET models.test: the server is away");
  expect(one.firstRefused).toBe(`GET models.test: ${"w".repeat(500)}`.slice(0, 400));
});

test("the first lasting refusal is kept, with at most 16 hosts", () => {
  const many = notes();
  const decision = "refuse" as const;
  const refused = { code: "ANT_EGRESS_HOST", why: null, rule: "none", decision };
  for (let i = 0; i < 20; i += 1) noteRefusal(many, { ...refused, host: `h${i}.test` });
  noteRefusal(many, {
    code: "ANT_EGRESS_NO_KEY",
    why: null,
    rule: "model:key",
    host: "models.test",
    decision,
  });
  noteRefusal(many, {
    code: "ANT_EGRESS_MODEL",
    why: "no price",
    rule: "model:price",
    host: "models.test",
    decision,
  });
  expect([many.refusal, many.hostsRefused.size]).toEqual(["ANT_EGRESS_NO_KEY: model:key", 16]);
});

test.each<[string, boolean, Partial<Parameters<typeof noteRefusal>[1]>]>([
  ["a metered call that was answered", true, { rule: "model:messages", model: entry }],
  ["a call that was answered from a record", true, { rule: "replay:call", model: entry }],
  ["a server of the user's own", true, { rule: "allowlist" }],
  ["a tunnel to it", true, { rule: "tunnel" }],
  ["an upstream that failed", true, { rule: "upstream", decision: "fault", code: "ANT_EGRESS_UPSTREAM" }],
  ["a call that other calls held up", true, over("model:reserved")],
  ["a call whose account could not be read", true, over("model:account")],
  ["a call without a budget", false, over("model:budget")],
  ["the list of models", false, { rule: "model:list" }],
  ["a package", false, { rule: "package:download" }],
  ["a host that is refused", false, { rule: "host:none", decision: "refuse", code: "ANT_EGRESS_HOST" }],
])("%s may have been a model: %s", (_, isReached, seen) => {
  const one = notes();
  noteRefusal(one, {
    ...{ code: null, why: null, rule: "none", host: "a.test", decision: "allow" },
    ...seen,
  });
  expect(one.isReached).toBe(isReached);
});
