/** A Patch.v0 as a change of the base tree, made on the trusted side. */
import { AntiphonError } from "@antiphon/contracts";
import type { Patch } from "@antiphon/contracts";
import { patchText } from "@antiphon/runtime/git/index";
import type { AgentContext, Change } from "../ports.ts";

/** Throws ANT_PATCH_*: malformed, against a rule, or not applicable to the base. */
export async function changeOf(patch: Patch, { dispatch, trees }: AgentContext): Promise<Change> {
  const text = patchText(patch);
  const declared = new Set(patch.files.map((file) => file.path));
  const undeclared = trees.check(text, dispatch).find((path) => !declared.has(path));
  if (undeclared !== undefined) {
    throw new AntiphonError(
      "ANT_PATCH_PATH",
      `a diff changes ${undeclared}, which the patch does not declare`,
    );
  }
  return await trees.apply(dispatch.base, text);
}
