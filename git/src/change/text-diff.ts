/**
 * The patch between two trees, as UTF-8 so that it survives being a JSON string: a text file in another encoding becomes a binary
 * change. One process, and up to two more if there is such a file.
 */
import { isUtf8 } from "node:buffer";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AntiphonError, limits } from "@antiphon/contracts";
import { codedRefusal } from "./apply-patch.ts";
import { quotePath } from "../objects/git-path.ts";
import type { FilePatch } from "../patch/file-patch.ts";
import { parsePatch } from "../patch/patch-parser.ts";
import type { Scratch } from "../repository/scratch.ts";

/** Bound on the files a rename search compares. Beyond it only exact renames are found. */
const RENAME_LIMIT = "400";

const DIFF = [
  "diff-tree",
  "-r",
  "-p",
  "--binary",
  "--full-index",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--find-renames=50%",
  `-l${RENAME_LIMIT}`,
];

/** Most bytes of a patch held in memory: more than any change may have, because an agent can delete a whole repository. */
const MAX_DIFF_BYTES = limits.treeHeldBytes;

export async function textDiff(scratch: Scratch, before: string, after: string): Promise<string> {
  const first = await boundedDiff(scratch, before, after);
  if (isUtf8(first)) return first.toString("utf8");
  // Rare: mark the files in another encoding as binary in the scratch's own attributes and run the diff again.
  await mkdir(join(scratch.gitDir, "info"), { recursive: true });
  await writeFile(join(scratch.gitDir, "info", "attributes"), otherEncodings(first));
  const second = await boundedDiff(scratch, before, after);
  if (isUtf8(second)) return second.toString("utf8");
  await writeFile(join(scratch.gitDir, "info", "attributes"), "* -diff\n");
  return (await boundedDiff(scratch, before, after)).toString("utf8");
}

async function boundedDiff(scratch: Scratch, before: string, after: string): Promise<Buffer> {
  try {
    return await scratch.git({ args: [...DIFF, before, after], maxOutputBytes: MAX_DIFF_BYTES });
  } catch (thrown) {
    if (!(thrown instanceof AntiphonError) || thrown.code !== "ANT_GIT_OUTPUT_LIMIT") throw thrown;
    const detail = `the change is a patch of more than ${MAX_DIFF_BYTES} bytes`;
    throw new AntiphonError("ANT_PATCH_TOO_LARGE", detail, { cause: thrown });
  }
}

function parsedAgain(patch: Buffer): FilePatch[] {
  try {
    return parsePatch(patch, {
      maxBytes: MAX_DIFF_BYTES,
      maxFiles: limits.treeFiles,
      maxBinaryBytes: MAX_DIFF_BYTES,
    });
  } catch (thrown) {
    throw codedRefusal(thrown);
  }
}

/** An attributes line for each file whose section is not UTF-8. */
function otherEncodings(patch: Buffer): string {
  const files = parsedAgain(patch);
  const starts: number[] = [0];
  for (let at = patch.indexOf(10); at !== -1; at = patch.indexOf(10, at + 1)) starts.push(at + 1);
  const lines: string[] = [];
  files.forEach((file, index) => {
    const from = starts[file.line - 1] ?? 0;
    const to = starts[(files[index + 1]?.line ?? starts.length) - 1] ?? patch.length;
    if (isUtf8(patch.subarray(from, to))) return;
    for (const path of new Set([file.oldPath, file.newPath])) {
      if (path !== null) lines.push(`${attributePattern(path)} -diff\n`);
    }
  });
  return lines.join("");
}

/** Escapes wildcards, anchors the pattern, and quotes it as git quotes names. */
function attributePattern(path: string): string {
  const quoted = quotePath(`/${path.replace(/[\\*?[\]]/g, "\\$&")}`);
  return quoted.startsWith('"') ? quoted : `"${quoted}"`;
}
