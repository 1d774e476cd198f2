/**
 * The configuration file of an egress gateway. An entry that violates the schema is left out and named, so that a mistake in
 * one model or credential takes nothing else down; a file that is no configuration at all stops the start.
 */
import { readFileSync } from "node:fs";
import { AntiphonError, validate, type EgressConfig } from "@antiphon/contracts";
import { parseHostName } from "../policy/host-name.ts";

/** The variables of a process. */
export type Env = Readonly<Record<string, string | undefined>>;

/** An entry that is not used, as `models/2`, and why. */
export interface Unusable {
  readonly entry: string;
  /** Its host, if that much could be read. */
  readonly host: string | null;
  readonly reason: string;
}

export interface ConfigFile {
  readonly file: EgressConfig;
  readonly unusable: readonly Unusable[];
}

/** Throws ANT_CONFIG_INVALID, with the line where it is known. */
export function configFile(path: string): ConfigFile {
  const read = text(path);
  let document: unknown;
  try {
    document = JSON.parse(read);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw invalid(`${path}${lineOfFault(read, why)} is not JSON: ${why}`);
  }
  const { file, unusable } = fitting(document, path, []);
  return {
    file,
    unusable: unusable.map((one) => ({
      ...one,
      reason: `${path}${lineOfHost(read, one.host)}: ${one.reason}`,
    })),
  };
}

/** Node names the place as a number of characters; of a text that ends too early it names none. */
function lineOfFault(read: string, why: string): string {
  const at = Number(/ at position (\d+)/.exec(why)?.[1] ?? read.trimEnd().length);
  return `:${read.slice(0, at).split("\n").length}`;
}

/** The first line that has the host; nothing if there is none. */
function lineOfHost(read: string, host: string | null): string {
  const line = host === null ? -1 : read.split("\n").findIndex((one) => one.includes(JSON.stringify(host)));
  return line < 0 ? "" : `:${line + 1}`;
}

/** Leaves out one invalid entry at a time. */
function fitting(document: unknown, path: string, unusable: readonly Unusable[]): ConfigFile {
  const checked = validate("EgressConfig", document);
  if (checked.ok) return { file: checked.value, unusable };
  const [first] = checked.errors;
  const reason = `${first?.path ?? ""} ${first?.message ?? "is not a configuration"}`;
  const [, list = "", index = ""] = /^\/(models|credentials)\/(\d+)(?:\/|$)/.exec(first?.path ?? "") ?? [];
  const entries = list === "" ? undefined : (document as Record<string, unknown>)[list];
  if (!Array.isArray(entries)) throw invalid(`${path}: ${reason}`);
  const { host } = (entries[Number(index)] ?? {}) as { readonly host?: unknown };
  const left = { ...(document as object), [list]: entries.filter((_entry, i) => i !== Number(index)) };
  const name = typeof host === "string" ? host : null;
  return fitting(left, path, [...unusable, { entry: `${list}/${name ?? index}`, host: name, reason }]);
}

export function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw invalid(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function invalid(detail: string): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", detail);
}

/** @throws AntiphonError ANT_CONFIG_INVALID */
export function namedHost(host: string): string {
  try {
    return parseHostName(host);
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error));
  }
}
