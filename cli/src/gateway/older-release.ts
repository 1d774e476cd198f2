/** Which of two releases is the older one. Pure. */

const RELEASE = /^(\d{1,4})\.(\d{1,4})\.\d{1,4}(-[\w.-]{1,40})?$/;

/**
 * The release of a gateway that is older than this command line, as far as new features go; null: it is not, or one of the two has no
 * release, such as a gateway that runs from its sources, or says none, as releases before this check.
 */
export function olderRelease(gateway: unknown, own: string): string | null {
  const theirs = typeof gateway === "string" ? RELEASE.exec(gateway) : null;
  const ours = RELEASE.exec(own);
  if (theirs === null || ours === null || theirs[0].endsWith("-sources")) return null;
  const major = Number(ours[1]) - Number(theirs[1]);
  const minor = Number(ours[2]) - Number(theirs[2]);
  return major > 0 || (major === 0 && minor > 0) ? theirs[0] : null;
}
