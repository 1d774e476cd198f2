/** A job on its way: as it was asked for, with what was prepared for it, and in its sandbox. */
import type { EnvironmentSpec, SandboxEvent, SandboxRequest } from "@antiphon/contracts";
import type { RunningServices, ServicesParts } from "../beside/running-services.ts";
import type { LayerContent } from "../environments/laying.ts";
import type { ImageFacts } from "../ports.ts";
import type { WorkspacePlan } from "../workspace/workspace.ts";
import type { Asking } from "./asking.ts";
import type { EgressLink } from "./egress-link.ts";
import type { Inbox } from "./inbox.ts";
import type { JobPlan } from "./job-plan.ts";
import type { JobPorts, Lease } from "./job-ports.ts";
import type { Progress } from "./progress.ts";

export interface Job {
  readonly request: SandboxRequest;
  readonly ports: JobPorts;
  readonly emit: (event: SandboxEvent) => void;
  readonly progress: Progress;
}

/** Everything that was resolved, fetched and checked before a sandbox was taken. */
export interface Prepared {
  readonly plan: JobPlan;
  readonly image: ImageFacts;
  readonly workspace: WorkspacePlan;
  /** Null: the job needs none. */
  readonly environment: { readonly spec: EnvironmentSpec; readonly layer: LayerContent } | null;
  /** In the order of the request. */
  readonly services: ServicesParts["services"];
}

/** A job that has its sandbox. */
export interface LeasedJob extends Prepared {
  readonly job: Job;
  readonly lease: Lease;
  readonly running: RunningServices;
  /** Null until the stage `connect`. */
  link: EgressLink | null;
  /** When the budget ends. Null until the first command. */
  endsAt: number | null;
  /** A command failed, and the request does not go on after it. */
  stopped: boolean;
  /** Aborts when the job is to end with what its commands have left so far. */
  readonly halt: AbortSignal;
  readonly asking: Asking;
  readonly inbox: Inbox;
  /** The changes are collected after this stage, so its time limit must leave the sandbox alive. */
  willCollect: boolean;
}

/** The state before the first command of a trial. */
export const BEGINNING = { endsAt: null, stopped: false };
