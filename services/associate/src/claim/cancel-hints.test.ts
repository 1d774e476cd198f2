import { encode, subjects } from "@antiphon/contracts";
import type { Bus } from "@antiphon/runtime";
import { expect, it } from "vitest";
import { CancelHints } from "./cancel-hints.ts";

interface Heard {
  readonly hints: CancelHints;
  readonly say: (runId: string, hint: object) => void;
}

function hearing(): Heard {
  let callback: (error: Error | null, message: object) => void = () => undefined;
  const nc = {
    subscribe: (_subject: string, options: { callback: typeof callback }) => {
      ({ callback } = options);
      return { isClosed: () => false, unsubscribe: () => undefined };
    },
  };
  const hints = new CancelHints({ nc } as unknown as Bus);
  return {
    hints,
    say: (runId, hint) => callback(null, { subject: subjects.control(runId), data: encode(hint) }),
  };
}

it("a hint reaches each attempt of its run, and no other", () => {
  const { hints, say } = hearing();
  const heard: string[] = [];
  hints.on("run_a", () => heard.push("first of a"));
  hints.on("run_a", () => heard.push("second of a"));
  hints.on("run_b", () => heard.push("b"));
  say("run_a", { kind: "cancel" });
  say("run_b", { kind: "pause" });
  expect(heard).toEqual(["first of a", "second of a"]);
});

it("an attempt that ended twice takes no hint from the next attempt of its run", () => {
  const { hints, say } = hearing();
  const heard: string[] = [];
  const end = hints.on("run_a", () => heard.push("ended"));
  end();
  hints.on("run_a", () => heard.push("next"));
  end();
  say("run_a", { kind: "cancel" });
  expect(heard).toEqual(["next"]);
});
