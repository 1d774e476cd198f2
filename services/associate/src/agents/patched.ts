/** Applies a Patch.v0 to the base tree, on the trusted side. */
import { AntiphonError } from "@antiphon/contracts";
import type { Patch } from "@antiphon/contracts";
import { patchText } from "@antiphon/git";
import type { AgentContext, Change } from "../ports.ts";

/** Throws ANT_PATCH_* when the patch is malformed, breaks a rule, or does not apply to the base. */
export async function changeOf(patch: Patch, { dispatch, trees }: AgentContext): Promise<Change> {
  const text = patchText(patch);
  const declared = new Set(patch.files.map((file) => file.path));
  for (const { path, from } of trees.check(text, dispatch)) {
    // A rename is one section; the patch declares it under one of its two names.
    if (declared.has(path) || (from !== null && declared.has(from))) continue;
    throw new AntiphonError("ANT_PATCH_PATH", `a diff changes ${path}, which the patch does not declare`);
  }
  return await trees.apply(dispatch.base, text);
}
