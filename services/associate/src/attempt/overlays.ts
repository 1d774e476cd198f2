/** Packs changed files into tars in ANT_EVIDENCE_FILES, to move them into and out of a sandbox. */
import { AntiphonError, limits } from "@antiphon/contracts";
import type { FileMode } from "@antiphon/contracts";
import type { Blobs } from "@antiphon/runtime";
import { readTar, writeTar } from "@antiphon/git";
import type { ChangedFile, Overlays } from "../ports.ts";

export function overlays(files: Blobs): Overlays {
  return {
    pack: (changed) => files.put(null, writeTar(changed)),
    async unpack(overlay) {
      if (overlay === null) return [];
      const entries = readTar(await files.get(overlay), {
        maxFiles: limits.sandboxFiles,
        maxBytes: limits.sandboxFileBytes,
      });
      return entries.map(({ path, mode, content }): ChangedFile => ({
        path,
        mode: fileMode(mode, path),
        content,
      }));
    },
  };
}

function fileMode(mode: string, path: string): FileMode {
  if (mode === "100644" || mode === "100755") return mode;
  throw new AntiphonError("ANT_SANDBOX_OUTPUT", `${path} came out of the sandbox with mode ${mode}`);
}
