/** What the rig tortures: processes around one nats-server, and a way to read afterwards what became of the work. */
import type { ClientCall, ContainerEvent, History } from "../checker/history.ts";
import type { InvariantId } from "../checker/invariant.ts";
import type { PowerDisk } from "../power-loss/power-disk.ts";
import type { Broker } from "./broker.ts";
import type { EngineWay } from "./engine-way.ts";
import type { SmallDisk } from "./small-disk.ts";
import type { Victim } from "./victim.ts";

export interface System {
  readonly name: string;
  /** Where its HTTP interface answers. */
  readonly urls: readonly string[];
  readonly victims: readonly Victim[];
  readonly broker: Broker;
  readonly disk: SmallDisk | null;
  /** The runners' way to the container engine, where it can be closed. */
  readonly engine: EngineWay | null;
  /** The disk of everything it keeps, where its power can be cut. */
  readonly power: PowerDisk | null;
  /** The invariants its history can be judged by; null: all of them. */
  readonly judgedBy: readonly InvariantId[] | null;
  /** Ids of the runs that came to their end. */
  ended(): Promise<ReadonlySet<string>>;
  /** Lets every process finish what it holds and end; names those that did not end well. */
  drain(): Promise<string[]>;
  /** Everything a history needs that the rig itself did not see. */
  collect(calls: readonly ClientCall[]): Promise<Collected>;
  remove(): Promise<void>;
}

export type Collected = Pick<History, "records" | "refs" | "commits" | "patched" | "blobs" | "manifests"> & {
  readonly containers: readonly ContainerEvent[];
  readonly witnessed: History["witnessed"];
};

export interface SystemOptions {
  readonly seed: number;
  readonly dir: string;
  /** How many of each role. */
  readonly sizes: Readonly<Record<string, number>>;
  /** Roles whose processes get a network of their own, which can be cut off. */
  readonly partitionable: readonly string[];
  /** Put the store on a file system of this size. */
  readonly diskMebibytes: number | null;
  /** Put the store and each process's state on this disk. */
  readonly power: PowerDisk | null;
  /** Members of the server's cluster; 1: a single server. */
  readonly servers: number;
  /** The text of a poisonous task; empty: there is none. */
  readonly poison: string;
  readonly repos: readonly { readonly path: string; readonly base: string }[];
}
