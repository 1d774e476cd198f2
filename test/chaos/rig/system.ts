/** The system under test: processes around one nats-server, and access to the results of the work afterwards. */
import type { ClientCall, ContainerEvent, History } from "../checker/history.ts";
import type { InvariantId } from "../checker/invariant.ts";
import type { PowerDisk } from "../power-loss/power-disk.ts";
import type { Broker } from "./broker.ts";
import type { EngineWay } from "./engine-way.ts";
import type { SmallDisk } from "./small-disk.ts";
import type { Victim } from "./victim.ts";

export interface System {
  readonly name: string;
  /** The address of its HTTP interface. */
  readonly urls: readonly string[];
  readonly victims: readonly Victim[];
  readonly broker: Broker;
  readonly disk: SmallDisk | null;
  /** The runners' connection to the container engine, if it can be closed. */
  readonly engine: EngineWay | null;
  /** The disk of all its data, if its power can be cut. */
  readonly power: PowerDisk | null;
  /** The invariants its history can be judged by; null: all of them. */
  readonly judgedBy: readonly InvariantId[] | null;
  /** Ids of the runs that ended. */
  ended(): Promise<ReadonlySet<string>>;
  /** Lets every process finish its work and end; returns those that failed to. */
  drain(): Promise<string[]>;
  /** The parts of a history that the rig itself did not observe. */
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
  /** The text that marks a poisonous task; empty: none. */
  readonly poison: string;
  readonly repos: readonly { readonly path: string; readonly base: string }[];
}
