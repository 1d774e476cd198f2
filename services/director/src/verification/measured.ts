/**
 * How many lines a change adds and removes, for the bounds of a policy. Pure.
 *
 * A patch has no lines for a file that git takes for binary, nor for a copy. One byte makes a source such a file, so its lines
 * are counted in its contents. Pictures, fonts and archives have none.
 */
import type { CheckedFile } from "@antiphon/git";

const WITHOUT_LINES =
  /\.(?:png|jpe?g|gif|webp|avif|ico|bmp|tiff?|woff2?|ttf|otf|eot|pdf|zip|gz|tgz|xz|zst|bz2|tar|mp[34]|m4a|wav|ogg|webm|mov|jar|wasm)$/i;

export function isUnmeasured({
  path,
  binary,
  change,
}: Pick<CheckedFile, "path" | "binary" | "change">): boolean {
  return (binary || change === "copy") && !WITHOUT_LINES.test(path);
}

/** @param after the contents that the change leaves, by path; `before` those of the head, as far as they are text */
export function measured(
  files: readonly CheckedFile[],
  after: ReadonlyMap<string, string>,
  before: ReadonlyMap<string, string>,
): CheckedFile[] {
  return files.map((file) => {
    if (!isUnmeasured(file)) return file;
    const gone = file.change === "copy" ? undefined : before.get(file.from ?? file.path);
    return { ...file, added: linesIn(after.get(file.path)), removed: linesIn(gone) };
  });
}

function linesIn(text = ""): number {
  return text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
}
