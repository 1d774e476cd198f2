/** A repository as an intent names it: an absolute path, a URL, or `{name, path}`. Pure. */
import { AntiphonError, looksLikeUrl, repositoryUrl, type RepoRef } from "@antiphon/contracts";

/** @throws AntiphonError ANT_INTENT_OPTIONS, ANT_REPO_URL_INVALID */
export function repoRefOf(given: unknown, where: string): RepoRef {
  if (typeof given === "string") return { name: nameOf(given), path: absolute(given, where) };
  const { name, path } = (given ?? {}) as { name?: unknown; path?: unknown };
  if (typeof given !== "object" || typeof path !== "string")
    throw invalid(where, `${where}: must be an absolute path, or {name, path}`);
  if (name !== undefined && typeof name !== "string")
    throw invalid(`${where}/name`, `${where}/name: must be a string`);
  return { name: name ?? nameOf(path), path: absolute(path, `${where}/path`) };
}

function nameOf(path: string): string {
  return (
    path
      .split("/")
      .filter((part) => part !== "")
      .at(-1) ?? path
  );
}

/** A relative path would mean different things to the caller and to the Director. */
function absolute(path: string, where: string): string {
  if (path.startsWith("/") && !path.includes("\0")) return path;
  if (looksLikeUrl(path)) return canonicalUrl(path, where);
  throw invalid(
    where,
    `${where}: must be an absolute path on the Director's machine, or a URL, found ${JSON.stringify(path)}`,
  );
}

/** The reason does not quote the URL, which may hold a password. */
function canonicalUrl(text: string, where: string): string {
  const parsed = repositoryUrl(text);
  if (!("fault" in parsed)) return parsed.url;
  throw new AntiphonError("ANT_REPO_URL_INVALID", `${where}: the URL ${parsed.fault}`, {
    data: { path: where },
  });
}

function invalid(path: string, message: string): AntiphonError {
  return new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path } });
}
