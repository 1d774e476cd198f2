/** Which work items sessions reach (seed 004, AdaptersConfig.workItemsAdapter), from the environment. */
import { readFileSync } from "node:fs";
import { AntiphonError } from "@antiphon/contracts";

export type WorkItemSettings =
  | { readonly kind: "file"; readonly directory: string }
  | {
      readonly kind: "gitea" | "github";
      readonly server: URL;
      readonly api: string;
      /** Null: public issues are read without an account. */
      readonly token: string | null;
      /** A session's push also opens a pull request. */
      readonly proposes: boolean;
    };

type Env = Readonly<Record<string, string | undefined>>;

/**
 * ANTIPHON_WORK_ITEMS: `file:/directory`, `gitea:https://host` or `github:https://github.com`; ANTIPHON_WORK_ITEMS_TOKEN: the
 * file with the deployment's token. ANTIPHON_PULL_REQUESTS: `push`, so that a session's push opens a pull request. Null: none.
 */
export function workItemSettings(env: Env): WorkItemSettings | null {
  const text = env["ANTIPHON_WORK_ITEMS"] ?? "";
  const proposes = isProposing(env);
  if (text === "" && proposes) throw invalid("ANTIPHON_PULL_REQUESTS", "needs ANTIPHON_WORK_ITEMS");
  if (text === "") return null;
  const kind = text.slice(0, Math.max(0, text.indexOf(":")));
  const place = text.slice(kind.length + 1);
  if (kind === "file" && proposes)
    throw invalid("ANTIPHON_PULL_REQUESTS", "needs a Gitea or GitHub server in ANTIPHON_WORK_ITEMS");
  if (kind === "file" && place.startsWith("/")) return { kind, directory: place };
  if ((kind !== "gitea" && kind !== "github") || !URL.canParse(place))
    throw invalid(
      "ANTIPHON_WORK_ITEMS",
      "is none of file:/directory, gitea:https://host, github:https://host",
    );
  const server = new URL(place);
  const isLocal = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(server.hostname);
  if (server.protocol !== "https:" && !(server.protocol === "http:" && isLocal))
    throw invalid("ANTIPHON_WORK_ITEMS", "must name an https server, because the token goes there");
  if (server.username !== "" || server.password !== "" || server.search !== "" || server.hash !== "")
    throw invalid("ANTIPHON_WORK_ITEMS", "must name a server without credentials and parameters");
  const token = tokenOf(env);
  if (proposes && token === null) throw invalid("ANTIPHON_PULL_REQUESTS", "needs ANTIPHON_WORK_ITEMS_TOKEN");
  return { kind, server, api: apiOf(kind, server), token, proposes };
}

function isProposing(env: Env): boolean {
  const text = env["ANTIPHON_PULL_REQUESTS"] ?? "";
  if (text === "" || text === "push") return text === "push";
  throw invalid("ANTIPHON_PULL_REQUESTS", "is not push");
}

function apiOf(kind: "gitea" | "github", server: URL): string {
  if (kind === "github" && server.hostname === "github.com") return "https://api.github.com";
  return `${server.origin}${server.pathname.replace(/\/$/, "")}/api/${kind === "gitea" ? "v1" : "v3"}`;
}

function tokenOf(env: Env): string | null {
  const path = env["ANTIPHON_WORK_ITEMS_TOKEN"] ?? "";
  if (path === "") return null;
  if (!path.startsWith("/")) throw invalid("ANTIPHON_WORK_ITEMS_TOKEN", "is not the absolute path of a file");
  try {
    const token = readFileSync(path, "utf8").trim();
    if (/^[\x21-\x7e]{8,512}$/.test(token)) return token;
  } catch (error) {
    throw invalid("ANTIPHON_WORK_ITEMS_TOKEN", `cannot be read: ${path}`, error);
  }
  throw invalid("ANTIPHON_WORK_ITEMS_TOKEN", `holds no token: ${path}`);
}

function invalid(variable: string, why: string, cause?: unknown): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", `${variable} ${why}`, { data: { variable }, cause });
}
