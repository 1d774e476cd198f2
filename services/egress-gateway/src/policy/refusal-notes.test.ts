import { expect, test } from "vitest";
import { noteRefusal, type RefusalNotes } from "./refusal-notes.ts";

const notes = (isSpent = false): RefusalNotes => ({ isSpent, refusal: null, hostsRefused: new Set() });
const over = (rule: string) => ({ code: "ANT_EGRESS_BUDGET", why: "too small", rule, host: "models.test" });

test("a call that the run has no budget for is noted, and one whose budget is used up is not", () => {
  const without = notes();
  noteRefusal(without, over("model:budget"));
  expect(without.refusal).toBe("ANT_EGRESS_BUDGET: too small");
  const spent = notes(true);
  noteRefusal(spent, over("model:budget"));
  expect(spent.refusal).toBeNull();
});

test.each(["model:reserved", "model:account"])(
  "a budget that is busy or unreadable (%s) is not noted",
  (rule) => {
    const busy = notes();
    noteRefusal(busy, over(rule));
    expect(busy.refusal).toBeNull();
  },
);

test("the first lasting refusal is kept, with at most 16 hosts", () => {
  const many = notes();
  const refused = { code: "ANT_EGRESS_HOST", why: null, rule: "none" };
  for (let i = 0; i < 20; i += 1) noteRefusal(many, { ...refused, host: `h${i}.test` });
  noteRefusal(many, { code: "ANT_EGRESS_NO_KEY", why: null, rule: "model:key", host: "models.test" });
  noteRefusal(many, { code: "ANT_EGRESS_MODEL", why: "no price", rule: "model:price", host: "models.test" });
  expect([many.refusal, many.hostsRefused.size]).toEqual(["ANT_EGRESS_NO_KEY: model:key", 16]);
});
