/** A job in its sandbox. */
import { RunningServices } from "../beside/running-services.ts";
import { stepEnvironment } from "../environments/variables.ts";
import { Asking } from "./asking.ts";
import { treeNow } from "./changes.ts";
import type { EgressLink } from "./egress-link.ts";
import { Inbox } from "./inbox.ts";
import type { Lease } from "./lease.ts";
import type { PreparedJob } from "./prepared-job.ts";

export interface LeasedJob extends PreparedJob {
  readonly lease: Lease;
  /** The variables of every command, before those of the network and its own. */
  readonly variables: Readonly<Record<string, string>>;
  readonly running: RunningServices;
  readonly asking: Asking;
  readonly inbox: Inbox;
  /** Aborts when the job is to end with what its commands have left so far. */
  readonly halt: AbortSignal;
  /** Null until the stage `connect`. */
  link: EgressLink | null;
  /** When the budget ends. Null until the first command. */
  endsAt: number | null;
  /** A command failed, and the request does not go on after it. */
  stopped: boolean;
}

/** The state before the first command of a trial. */
export const BEGINNING = { endsAt: null, stopped: false };

export function leasedJob(job: PreparedJob, lease: Lease, halt: AbortSignal): LeasedJob {
  const { request, ports, emit, plan, image, services } = job;
  const { sandbox, goesOnFor } = lease;
  const { keepBytes } = plan.limits;
  const tree = (): ReturnType<typeof treeNow> => treeNow(job, sandbox);
  const asking = new Asking({
    sandbox,
    emit,
    goesOnFor,
    report: ports.progress,
    ...(request.collect ? { tree } : {}),
  });
  ports.onAnswer(asking);
  const inbox = new Inbox({ sandbox, emit, first: request.messages ?? [] });
  ports.onInbox(inbox);
  return {
    ...job,
    lease,
    variables: stepEnvironment(image, sandbox.home, request.workspace.environment),
    running: new RunningServices({ ports, main: sandbox, job: request, keepBytes, services }),
    asking,
    inbox,
    halt: AbortSignal.any([halt, asking.unanswered]),
    link: null,
    ...BEGINNING,
  };
}
