/**
 * The wire rules of Contracts v1.3 (seed 004): camelCase as written, null omitted, enums as strings, relaxed escaping,
 * ISO-8601 durations and times. Indented, for people and golden files.
 */
import { AntiphonError } from "../errors.ts";

/** JSON as System.Text.Json writes it with the seed's options. List elements keep their null. */
export function toContractJson(value: unknown): string {
  return JSON.stringify(value, omitNull, 2);
}

function omitNull(this: unknown, _key: string, value: unknown): unknown {
  return value === null && !Array.isArray(this) ? undefined : value;
}

const DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,9})?)S)?)?$/;

/** Milliseconds of an ISO-8601 duration (days to seconds; months and years have no fixed length). */
export function durationMs(text: string): number {
  const parts = DURATION.exec(text);
  if (parts === null || text.endsWith("P") || text.endsWith("T")) {
    throw new AntiphonError(
      "ANT_CONTRACT_INVALID",
      `not an ISO-8601 duration: ${JSON.stringify(text.slice(0, 80))}`,
    );
  }
  const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
  const whole = ((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0);
  return whole * 60_000 + Math.round((seconds ?? 0) * 1000);
}

/** The ISO-8601 duration of milliseconds, in the largest units that fit: `PT5M`, `P1DT2H`, `PT0.25S`. */
export function isoDuration(ms: number): string {
  if (!Number.isSafeInteger(ms) || ms < 0) {
    throw new AntiphonError("ANT_CONTRACT_INVALID", `not a duration in milliseconds: ${ms}`);
  }
  const seconds = Math.floor(ms / 1000);
  const rest = (seconds % 60) + (ms % 1000) / 1000;
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  const time = `${hours > 0 ? `${hours}H` : ""}${minutes > 0 ? `${minutes}M` : ""}${rest > 0 ? `${rest}S` : ""}`;
  const text = `P${days > 0 ? `${days}D` : ""}${time === "" ? "" : `T${time}`}`;
  return text === "P" ? "PT0S" : text;
}
