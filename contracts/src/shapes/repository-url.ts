/**
 * The URL of a remote repository, in place of a path. Only a plain URL is accepted: without a password, a query or an
 * escape, because it is stored in records and shown to people, and because git and ssh would give some characters a
 * meaning of their own. The result is the one spelling by which the repository is known.
 */

export const URL_SCHEMES = ["https", "http", "ssh", "git", "file"] as const;
type UrlScheme = (typeof URL_SCHEMES)[number];

export interface RepositoryUrl {
  /** The canonical text: lower-case host, no default port, no slash at the end. */
  readonly url: string;
  readonly scheme: UrlScheme;
  /** The last part of the path, without `.git`: the repository's name for people. */
  readonly name: string;
}

const DEFAULT_PORTS: Readonly<Record<UrlScheme, string>> = {
  https: "443",
  http: "80",
  ssh: "22",
  git: "9418",
  file: "",
};
const MOST_CHARACTERS = 1_024;

/** Whether a text is meant as a URL and not as a path. It may still be one that is refused. */
export function looksLikeUrl(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]{0,30}:\/\//.test(text);
}

/** @returns the URL, or why it is refused */
export function repositoryUrl(text: string): RepositoryUrl | { readonly fault: string } {
  if (text.length > MOST_CHARACTERS) return { fault: `is longer than ${MOST_CHARACTERS} characters` };
  const cut = text.indexOf("://");
  const scheme = URL_SCHEMES.find((one) => one === text.slice(0, Math.max(cut, 0)).toLowerCase());
  if (scheme === undefined) return { fault: `does not begin with ${URL_SCHEMES.join("://, ")}://` };
  const rest = text.slice(cut + 3);
  const slash = rest.indexOf("/");
  const [authority, path] = slash < 0 ? [rest, ""] : [rest.slice(0, slash), rest.slice(slash)];
  const place = scheme === "file" ? (authority === "" ? "" : null) : placeOf(authority, scheme);
  if (place === null) return { fault: faultOf(authority) };
  if (!/^[A-Za-z0-9._~/+-]+$/.test(path)) return { fault: "has a path with unusual characters, or none" };
  const parts = path.split("/").filter((part) => part !== "");
  const odd = parts.find((part) => part === "." || part === ".." || part.startsWith("-"));
  if (odd !== undefined) return { fault: `has a part ${JSON.stringify(odd)} in its path` };
  const last = parts.at(-1);
  if (last === undefined) return { fault: "names no repository" };
  return { url: `${scheme}://${place}/${parts.join("/")}`, scheme, name: last.replace(/\.git$/, "") || last };
}

/** `[user@]host[:port]`, a user only for ssh; null if it is anything else. */
function placeOf(authority: string, scheme: UrlScheme): string | null {
  const found =
    /^(?:([A-Za-z0-9_][A-Za-z0-9._-]*)@)?([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::(\d{1,5}))?$/.exec(
      authority,
    );
  if (found === null) return null;
  const [, user, host = "", port] = found;
  if (user !== undefined && scheme !== "ssh") return null;
  const shownPort = port === undefined || port === DEFAULT_PORTS[scheme] ? "" : `:${port}`;
  return `${user === undefined ? "" : `${user}@`}${host.toLowerCase()}${shownPort}`;
}

function faultOf(authority: string): string {
  return authority.includes("@")
    ? "holds a user or a password; the deployment has the credentials"
    : "has no valid host";
}

/** Whether a canonical URL is the prefix or lies below it. Both are compared part by part. */
export function liesBelow(url: string, prefix: string): boolean {
  return url === prefix || url.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}
