/** What a job needs from the runner around it. */
import type { EgressGrant, ProviderName, SandboxRequest } from "@antiphon/contracts";
import type { Wanted } from "../pool/lease.ts";
import type { ContainerLimits, ImageFacts, Sandbox, SandboxOrder } from "../ports.ts";
import type { JobWords } from "../reaper/container-labels.ts";
import type { WorkspaceSources } from "../workspace/workspace-plan.ts";
import type { Environments } from "../environments/environments.ts";
import type { Asking } from "./asking.ts";
import type { Inbox } from "./inbox.ts";
import type { EgressLink } from "./egress-link.ts";
import type { Evidence } from "./evidence.ts";
import type { Lease } from "./lease.ts";

export interface JobPorts {
  readonly node: string;
  readonly provider: ProviderName;
  readonly defaults: ContainerLimits;
  /** Resolves a requested image to one that is allowed, or throws a coded error. */
  readonly image: (asked: string | null) => Promise<ImageFacts>;
  /** Gets a sandbox for a job, if possible one that already holds what is wanted. */
  readonly lease: (order: Omit<SandboxOrder, "labels">, job: JobWords, wanted: Wanted) => Promise<Lease>;
  readonly sources: WorkspaceSources;
  readonly evidence: Evidence;
  readonly egress: (job: SandboxRequest, grant: EgressGrant, sandbox: Sandbox) => Promise<EgressLink>;
  /** Starts a sandbox that shares the loopback interface of `main`, for one of its services. */
  readonly beside: (
    order: Pick<SandboxOrder, "imageId" | "limits" | "tmpfs">,
    main: Sandbox,
    job: JobWords,
  ) => Promise<Sandbox>;
  /** Makes a word that nobody can guess. */
  readonly newWord: () => string;
  readonly environments: Pick<Environments, "ensure">;
  /** Names who takes the answers to the job's questions, and repeats an open one. */
  readonly onAnswer: (asking: Pick<Asking, "answer" | "repeat">) => void;
  /** Names who takes the messages to the job's commands. */
  readonly onInbox: (inbox: Pick<Inbox, "tell">) => void;
  /** Tells people who watch what the job waits for. */
  readonly progress: (text: string) => void;
  readonly onOutput: (stream: "stdout" | "stderr", piece: Buffer) => void;
  /** Times a part of the job, for the trace of its run. */
  readonly timed: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  /** Work that ends after the outcome is known, such as the removal of the container. */
  readonly later: (work: Promise<void>) => void;
}
