/** Base trees from object store ANT_REPOS in a local cache, and the git operations on them, on the trusted side. */
import { AntiphonError, keys, limits } from "@antiphon/contracts";
import type { DispatchBody, TreeRef } from "@antiphon/contracts";
import type { Blobs } from "@antiphon/runtime";
import { applyPatch, checkPatch, diffOverlay, readStep, stepNamed, TreeCache } from "@antiphon/git";
import type { BaseTrees, Change, Diff, PatchedFile } from "../ports.ts";

export function baseTrees(repos: Blobs, cacheDir: string): BaseTrees {
  const cache = new TreeCache(cacheDir);
  const arriving = new Map<string, Promise<void>>();

  const fetchWhole = (tree: string, object: string): Promise<void> =>
    cache.importTree(tree, repos.stream(object, { deadlineMs: limits.treeTransferMs }));

  /** Fetches each tree once for all attempts that need it. A failed fetch is tried again by the next call. */
  const ensure = (base: TreeRef): Promise<void> => {
    const known = arriving.get(base.tree);
    if (known !== undefined) return known;
    const fetched = (async () => {
      if (await cache.has(base.tree)) return;
      const step = stepNamed(base.object);
      if (step === null) return await fetchWhole(base.tree, base.object);
      if (!(await cache.has(step.from))) await fetchWhole(step.from, keys.tree(step.from));
      await cache.importStep(readStep(await repos.get(base.object), step));
    })().finally(() => arriving.delete(base.tree));
    arriving.set(base.tree, fetched);
    return fetched;
  };

  return {
    ensure,
    async diff(base, change): Promise<Diff | null> {
      await ensure(base);
      const { patch, files_changed: files } = await diffOverlay(cache, base.tree, change);
      return patch === "" ? null : { patch, files };
    },
    check(patch: string, dispatch: DispatchBody): readonly PatchedFile[] {
      // Protected paths are checked in the clean room, which knows the base's tests.
      const checked = checkPatch(patch, { scope: dispatch.scope, grants: dispatch.grants });
      if (checked.ok) return checked.files;
      const { code, message, path, rule, line } = checked;
      throw new AntiphonError(code, path === null ? message : `${path}: ${message}`, {
        data: { path, rule, line },
      });
    },
    async apply(base, patch): Promise<Change> {
      await ensure(base);
      const { overlay, deletions } = await applyPatch(cache, base.tree, patch);
      return { files: overlay, deletions };
    },
  };
}
