import { expect, test } from "vitest";
import { inOrder } from "./in-order.ts";

test("a line is sent when the one before it is answered, also if that is refused", async () => {
  const busy = new Error("busy");
  const sent: string[] = [];
  const refusals: unknown[] = [];
  let refuse = (_why: Error): void => undefined;
  const first = new Promise<void>((_answered, reject) => (refuse = reject));
  const say = inOrder(
    (line) => {
      sent.push(line);
      return line === "one" ? first : Promise.resolve();
    },
    (thrown) => refusals.push(thrown),
  );
  const one = say("one");
  const two = say("two");
  await new Promise(setImmediate);
  expect(sent).toEqual(["one"]);
  refuse(busy);
  await Promise.all([one, two]);
  expect([sent, refusals]).toEqual([["one", "two"], [busy]]);
});
