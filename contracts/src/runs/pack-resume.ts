/** The words with which the program of a pack goes on with its conversation, in their place in its command. Pure. */
import type { AgentPack } from "../settings/agent-pack.ts";

type Words = Pick<AgentPack, "argv" | "resume" | "prompt">;

/** The word of `argv` that stands for those of `resume`. */
export const RESUME = "${resume}";

/** The command with the words to go on with: in their place, or behind it. */
export function withResume(argv: readonly string[], resume: readonly string[]): string[] {
  const at = argv.indexOf(RESUME);
  return at === -1 ? [...argv, ...resume] : [...argv.slice(0, at), ...resume, ...argv.slice(at + 1)];
}

/**
 * Why the words cannot be put into the command; null: they can. Behind a flag at its end they would be taken for its value, which is
 * the prompt at the first start, and behind `--` for no flags.
 */
export function resumeFault({ argv, resume, prompt }: Words): string | null {
  const places = argv.filter((word) => word === RESUME).length;
  if (places > 1) return `"argv" has the word ${RESUME} ${places} times`;
  if (argv[0] === RESUME) return `"argv" begins with ${RESUME}, where its program has to be named`;
  if (resume === undefined || places === 1) return null;
  const last = argv.at(-1) ?? "";
  const end = argv.includes("--") ? "--" : prompt === "argument" && last.startsWith("-") ? last : null;
  if (end === null) return null;
  return `"argv" needs the word ${RESUME} before ${end}: behind it, the words of "resume" would not be read as flags`;
}
