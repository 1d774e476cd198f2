/** Reads the names of submodules from `.gitmodules`, which is part of a commit and so comes from strangers. */

/**
 * @param listing output of `git config --null --list` for a `.gitmodules`: key, line feed, value, NUL
 * @returns the name of the submodule at each path
 */
export function submoduleNames(listing: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const item of listing.split("\0")) {
    const at = item.indexOf("\n");
    const [, name] = /^submodule\.(.+)\.path$/s.exec(item.slice(0, Math.max(0, at))) ?? [];
    if (name !== undefined && isSafeName(name)) names.set(item.slice(at + 1), name);
  }
  return names;
}

/** A name becomes a directory below `modules`, so it must not lead out of there. */
function isSafeName(name: string): boolean {
  return (
    !name.includes("\\") && name.split("/").every((part) => part !== "" && part !== "." && part !== "..")
  );
}
