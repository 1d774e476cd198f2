import { expect, test } from "vitest";
import { completePack } from "./pack-files.ts";
import { resumeFault } from "./pack-resume.ts";

const RESUME = "${resume}";
const resume = ["--continue"];

test.each([
  ["behind the command", { argv: ["a", "run"], prompt: "argument" }],
  ["behind a flag, where the prompt is no word", { argv: ["a", "--print"], prompt: "stdin" }],
  ["in their place before the flag of the prompt", { argv: ["a", RESUME, "--message"], prompt: "argument" }],
  ["in their place before `--`", { argv: ["a", RESUME, "--"], prompt: "stdin" }],
] as const)("the words to go on with may stand %s", (_, { argv, prompt }) => {
  expect(resumeFault({ argv: [...argv], prompt, resume })).toBeNull();
});

test.each([
  ["behind the flag of the prompt", { argv: ["a", "--message"], prompt: "argument" }, /before --message/],
  ["behind `--`", { argv: ["a", "--", "x"], prompt: "stdin" }, /before --:/],
  ["twice", { argv: ["a", RESUME, RESUME], prompt: "stdin" }, /2 times/],
  ["in the place of the program", { argv: [RESUME, "a"], prompt: "stdin" }, /begins with/],
] as const)("a pack whose words to go on with stand %s is refused", (_, { argv, prompt }, why) => {
  const pack = { name: "own", argv: [...argv], prompt, resume };
  expect(() => completePack(pack, () => null)).toThrow(why);
  expect(() => completePack(pack, () => null)).toThrow(
    expect.objectContaining({ code: "ANT_AGENT_PACK_INVALID" }) as Error,
  );
});

test("without words to go on with, a command may end as it likes", () => {
  expect(resumeFault({ argv: ["a", "--message"], prompt: "argument" })).toBeNull();
});
