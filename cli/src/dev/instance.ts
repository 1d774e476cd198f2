// Finds the `antiphon dev` of a state directory: the process that holds its lock, and, once it is ready, its addresses.
//
// The addresses are in `run/instance.json`, which a clean stop removes. After a crash the file stays, so it counts only
// while the process that wrote it holds the lock.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockHolder } from "./state-lock.ts";

export interface Addresses {
  readonly gateway: string;
  readonly nats: string;
}

export interface Instance {
  readonly pid: number;
  /** Null: it is starting or stopping. */
  readonly addresses: Addresses | null;
}

/** The dev server of this machine keeps everything below this directory. */
export function devDirectory(stateDir: string): string {
  return join(stateDir, "dev");
}

export function lockOf(dir: string): string {
  return join(dir, "lock");
}

/** Written by the process that holds the lock. */
export function writeInstance(dir: string, addresses: Addresses): void {
  const file = fileIn(dir);
  writeFileSync(`${file}.new`, JSON.stringify({ pid: process.pid, ...addresses }));
  renameSync(`${file}.new`, file);
}

/** Null: none runs there. */
export function instanceIn(dir: string): Instance | null {
  const holder = lockHolder(lockOf(dir));
  return holder === null ? null : { pid: holder.pid, addresses: addressesOf(dir, holder.pid) };
}

function addressesOf(dir: string, pid: number): Addresses | null {
  let text: string;
  try {
    text = readFileSync(fileIn(dir), "utf8");
  } catch {
    return null; // Not ready yet.
  }
  const { pid: writer, ...addresses } = JSON.parse(text) as Addresses & { pid: number };
  return writer === pid ? addresses : null;
}

function fileIn(dir: string): string {
  return join(dir, "run/instance.json");
}
