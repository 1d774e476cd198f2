/** The project on an issue tracker that a repository is cloned from. Pure. */

/** `owner/name`, or null if the URL is of another server. ssh may use another port than the server's pages. */
export function projectOf(repository: string, server: URL): string | null {
  const url = URL.canParse(repository) ? new URL(repository) : null;
  if (url === null || url.hostname !== server.hostname) return null;
  const isPage = url.protocol === "http:" || url.protocol === "https:";
  if (isPage && url.host !== server.host) return null;
  if (!isPage && url.protocol !== "ssh:") return null;
  const base = isPage ? server.pathname.replace(/\/$/, "") : "";
  if (!url.pathname.startsWith(`${base}/`)) return null;
  const [owner, name = "", ...rest] = url.pathname
    .slice(base.length + 1)
    .replace(/\/$/, "")
    .split("/");
  const plain = name.replace(/\.git$/, "");
  const isNamed = [owner, plain].every((part) => part !== undefined && /^[A-Za-z0-9._-]+$/.test(part));
  return isNamed && rest.length === 0 && ![owner, plain].includes("..") ? `${owner ?? ""}/${plain}` : null;
}
