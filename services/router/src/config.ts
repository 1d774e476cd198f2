/** The Router's settings beside those of the runtime. */
import { readFileSync } from "node:fs";
import { AntiphonError } from "@antiphon/contracts";
import type { RouterModel } from "./opinion/ask-model.ts";

export interface RouterConfig {
  /** ANTIPHON_ROUTER_SLOTS: intents routed at the same time. Default 64. */
  readonly slots: number;
  /**
   * ANTIPHON_ROUTER_MODEL, the name of a model, ANTIPHON_ROUTER_MODEL_URL, the address of its Chat Completions API, and
   * ANTIPHON_ROUTER_MODEL_KEY_FILE, a file with its key. Default: no model is asked.
   */
  readonly model: RouterModel | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const LONGEST_NAME = 200;

export function readRouterConfig(env: Environment = process.env): RouterConfig {
  return { slots: slotsIn(env), model: modelIn(env) };
}

function slotsIn(env: Environment): number {
  const text = env["ANTIPHON_ROUTER_SLOTS"] ?? "";
  const slots = text === "" ? 64 : Number(text);
  if (Number.isInteger(slots) && slots >= 1 && slots <= 1000) return slots;
  throw invalid(`ANTIPHON_ROUTER_SLOTS=${JSON.stringify(text)} is not from 1 to 1000`);
}

function modelIn(env: Environment): RouterModel | null {
  const name = env["ANTIPHON_ROUTER_MODEL"] ?? "";
  const url = env["ANTIPHON_ROUTER_MODEL_URL"] ?? "";
  const file = env["ANTIPHON_ROUTER_MODEL_KEY_FILE"] ?? "";
  if (name === "" && url === "" && file === "") return null;
  if (name === "" || url === "")
    throw invalid("ANTIPHON_ROUTER_MODEL and ANTIPHON_ROUTER_MODEL_URL are set together, or neither");
  if (name.length > LONGEST_NAME)
    throw invalid(`ANTIPHON_ROUTER_MODEL has more than ${LONGEST_NAME} characters`);
  const address = URL.canParse(url) ? new URL(url) : null;
  if (address === null || !/^https?:$/.test(address.protocol) || address.username !== "")
    throw invalid("ANTIPHON_ROUTER_MODEL_URL is no http or https address, or it has a user in it");
  return { name, url: url.endsWith("/") ? url : `${url}/`, key: file === "" ? null : keyIn(file) };
}

function keyIn(file: string): string {
  try {
    const key = readFileSync(file, "utf8").trim();
    if (/^[\x21-\x7e]{1,4096}$/.test(key)) return key;
  } catch (error) {
    throw new AntiphonError("ANT_CONFIG_INVALID", `ANTIPHON_ROUTER_MODEL_KEY_FILE cannot be read: ${file}`, {
      cause: error,
    });
  }
  throw invalid(`ANTIPHON_ROUTER_MODEL_KEY_FILE holds no key of one line: ${file}`);
}

const invalid = (detail: string): AntiphonError => new AntiphonError("ANT_CONFIG_INVALID", detail);
