import { expect, it } from "vitest";
import type { SandboxStepOutcome } from "@antiphon/contracts";
import type { ChangedFile } from "../ports.ts";
import { output } from "../testing/dispatch.fixture.ts";
import { transcriptOf, withoutOwnWords } from "./transcript.ts";

const file = (path: string): ChangedFile => ({ path, mode: "100644", content: Buffer.from(path) });
const change = { files: [file("a.js"), file(".own/1.json"), file(".own/2.json")], deletions: ["b.js"] };
const OWN = { file: ".own/*.json", format: "json" } as const;

it("takes the file that the pack names out of the change, and the last of several", () => {
  const found = withoutOwnWords(change, { account: OWN });
  expect(found).toEqual({
    change: { files: [file("a.js")], deletions: ["b.js"] },
    account: file(".own/2.json"),
    used: null,
  });
  expect(transcriptOf(OWN, found.account, [], null)).toEqual([
    { path: "transcript.json", text: ".own/2.json" },
  ]);
});

it("takes a file that says what was used out of the change as well", () => {
  const from = { file: ".own/1.json", format: "json" } as const;
  const usage = { from, tokens: ["used"], adds: "sum" as const };
  const found = withoutOwnWords(change, { account: { ...OWN, file: ".own/2.json" }, usage });
  expect(found).toEqual({
    change: { files: [file("a.js")], deletions: ["b.js"] },
    account: file(".own/2.json"),
    used: file(".own/1.json"),
  });
});

it("leaves the change alone when the transcript is an output, and keeps that", () => {
  const said = { format: "jsonl" } as const;
  expect(withoutOwnWords(change, { account: said })).toEqual({ change, account: null, used: null });
  const steps = [{ id: "work-1", stdout: output("{}\n") }] as unknown as SandboxStepOutcome[];
  expect(transcriptOf(said, null, steps, "work-1")).toEqual([{ path: "transcript.jsonl", text: "{}\n" }]);
});

it("keeps nothing when there is none", () => {
  expect(transcriptOf(OWN, null, [], null)).toEqual([]);
  expect(transcriptOf({ format: "text" }, null, [], "work-1")).toEqual([]);
  expect(transcriptOf(undefined, null, [], "work-1")).toEqual([]);
});
