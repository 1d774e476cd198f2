import { expect, it } from "vitest";
import { withoutJunk } from "../attempt/change.ts";
import type { AgentContext } from "../ports.ts";
import { dispatchOf } from "../testing/dispatch.fixture.ts";
import { packAgent } from "./pack.ts";

it("leaves exactly the file of its question out of the change, whatever characters its name has", async () => {
  const asks = { exit_code: 9, file: "own/{ask,*}.txt" };
  const program = { install: [], tools: [], path: [], argv: ["own"], env: {} };
  const agent = packAgent({ kind: "pack", name: "own", ...program, prompt: "stdin", junk: [], asks });
  const context = { dispatch: dispatchOf(), epoch: 1, previousDiff: null } as unknown as AgentContext;
  const prepared = await agent.prepare(context);
  if (prepared.kind !== "work") throw new Error("it asks");
  const named = (path: string) => ({ path, mode: "100644" as const, content: Buffer.alloc(0) });
  const files = [asks.file, "own/ask.txt", "own/notes.txt"].map(named);
  const { files: left } = withoutJunk({ files, deletions: [] }, prepared.junk ?? []);
  expect(left.map(({ path }) => path)).toEqual(["own/ask.txt", "own/notes.txt"]);
});
