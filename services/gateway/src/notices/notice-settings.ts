// Where a deployment tells another system what waits for people and what has ended.
//
// The address is the deployment's own word: nobody who uses it can name another one. It is https, or this machine.
import { readFileSync } from "node:fs";
import { AntiphonError } from "@antiphon/contracts";

export interface NoticeSettings {
  readonly url: URL;
  readonly secret: Buffer;
  /** Where people reach the page, for links; null: no links. */
  readonly page: string | null;
}

type Env = Readonly<Record<string, string | undefined>>;

/** ANTIPHON_NOTIFY_URL, ANTIPHON_NOTIFY_SECRET (the file with `whsec_<base64>`), ANTIPHON_PAGE_URL. Null: nobody is told. */
export function noticeSettings(env: Env): NoticeSettings | null {
  const text = env["ANTIPHON_NOTIFY_URL"] ?? "";
  if (text === "") return null;
  const url = addressOf("ANTIPHON_NOTIFY_URL", text);
  const page = env["ANTIPHON_PAGE_URL"] ?? "";
  return {
    url,
    secret: secretIn(env["ANTIPHON_NOTIFY_SECRET"] ?? ""),
    page: page === "" ? null : addressOf("ANTIPHON_PAGE_URL", page).href.replace(/\/$/, ""),
  };
}

function addressOf(variable: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isLocal = url !== null && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url === null || (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)))
    throw invalid(variable, "is neither an https URL nor an http URL of this machine");
  if (url.username !== "" || url.password !== "" || url.hash !== "")
    throw invalid(variable, "must hold no credentials and no part after #");
  return url;
}

/** Messages never repeat what the file holds. */
function secretIn(path: string): Buffer {
  const variable = "ANTIPHON_NOTIFY_SECRET";
  if (!path.startsWith("/")) throw invalid(variable, "is not the absolute path of a file");
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw invalid(variable, `cannot be read: ${path}`, error);
  }
  const [, base64 = ""] = /^whsec_([A-Za-z0-9+/]{32,128}={0,2})$/.exec(text) ?? [];
  const secret = Buffer.from(base64, "base64");
  if (secret.length >= 24) return secret;
  throw invalid(variable, `holds no whsec_<base64> of at least 24 bytes: ${path}`);
}

function invalid(variable: string, why: string, cause?: unknown): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", `${variable} ${why}`, { data: { variable }, cause });
}
