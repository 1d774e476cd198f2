// Passes over the checks of a repository whose programs the image of the run lacks, where it has those of another check.
import { AntiphonError, buildCommandFor } from "@antiphon/contracts";
import type { RepoInspectReply } from "@antiphon/contracts";
import type { Backend } from "../ports.ts";

type Candidates = NonNullable<Extract<RepoInspectReply, { ok: true }>["check_candidates"]>;

export interface PassedOver {
  /** `image_lacks` of the run; empty: nothing is passed over. */
  readonly lacks: readonly string[];
  /** For people; null: there is nothing to say. */
  readonly note: string | null;
}

const NOTHING: PassedOver = { lacks: [], note: null };

/** @param lacks what was looked for in the image and is not there */
export function passedOver(candidates: Candidates, lacks: readonly string[]): PassedOver {
  const missing = ({ needs }: Candidates[number]): string[] =>
    needs.filter((group) => group.length > 0 && group.every((one) => lacks.includes(one))).flat();
  const fits = candidates.findIndex((one) => missing(one).length === 0);
  const [first] = candidates;
  if (first === undefined || fits === 0) return NOTHING;
  const over = fits === -1 ? [first] : candidates.slice(0, fits);
  const programs = [...new Set(over.flatMap(missing))];
  const makes = buildCommandFor(programs);
  const remedy =
    makes === null ? "--image names an image that has it" : `\`${makes}\` makes an image that has it`;
  const named = over.map(({ command }) => `\`${command}\``).join(", ");
  const instead = candidates[fits];
  if (instead === undefined)
    return { lacks: [], note: `it lacks ${programs.join(", ")}, which the check ${named} needs; ${remedy}` };
  const note = `it lacks ${programs.join(", ")}, so the check is \`${instead.command}\` and not ${named}; ${remedy}`;
  return { lacks: programs, note };
}

/** Nothing is passed over while no sandbox-runner can tell what the image has. */
export async function checksThatStart(
  backend: Pick<Backend, "images">,
  candidates: Candidates = [],
  image: string,
): Promise<PassedOver> {
  if (candidates.every(({ needs }) => needs.length === 0)) return NOTHING;
  try {
    const { lacks = [] } = await backend.images({ op: "list", look_into: image });
    return passedOver(candidates, lacks);
  } catch (thrown) {
    // The image is judged where a sandbox is made of it, and an older runner does not know the question.
    if (thrown instanceof AntiphonError) return NOTHING;
    throw thrown;
  }
}
