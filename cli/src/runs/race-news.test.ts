import { expect, it } from "vitest";
import { PresentWork } from "./present-work.ts";
import { raceWords } from "./race-news.ts";

function work(agent: string, text: string) {
  const present = new PresentWork("run_a");
  present.output({ stream: "progress", taskId: "t1", text } as Parameters<PresentWork["output"]>[0]);
  return { agent, present };
}

it("names each run that is under way by its agent, with its number where several have the same one", () => {
  const works = [work("claude", "t"), work("codex", "installs"), work("claude", "x".repeat(200))];
  expect(raceWords(works)).toBe(`claude 1 (t), codex (installs), claude 3 (${"x".repeat(99)}…)`);
  for (const { present } of works) present.storage({ code: "ANT_NATS_NO_SPACE", message: "full" });
  expect(raceWords(works)).toMatch(/…\); ANT_NATS_NO_SPACE: full$/);
  for (const { present } of works) present.storage(null);
  for (const { present } of works.slice(1)) present.end();
  expect(raceWords(works)).toBe("claude 1 (t)");
  works[0]!.present.isWaiting = true;
  expect(raceWords(works)).toBeNull();
});
