/**
 * A sandbox-runner of the simulated world. It serves the real runner's subject and protocol; its containers are entries of
 * a list.
 *
 * Lifecycle of a job: accepted -> started -> steps -> done; or killed: canceled, or its requester went silent. A canceled job
 * may take a while to collect what it left.
 */
import {
  decode,
  encode,
  limits,
  subjects,
  type SandboxOutcome,
  type SandboxRequest,
  type SandboxSignal,
} from "@antiphon/contracts";
import { outcomeOf } from "./sandbox-outcome.ts";
import type { Bus } from "../../../runtime/src/index.ts";
import type { Chance } from "../chance.ts";
import type { SimNode } from "../node.ts";
import type { Objects } from "./sim-blobs.ts";

export interface ContainerLife {
  readonly id: string;
  readonly request: SandboxRequest;
  readonly startedMs: number;
  endedMs: number | null;
}

export interface RunnerParts {
  bus: Bus;
  node: SimNode;
  chance: Chance;
  slots: number;
  files: Objects;
  containers: ContainerLife[];
  now: () => number;
}

export function startRunner(parts: RunnerParts): void {
  const { bus, node } = parts;
  let busy = 0;
  node.onCrash(() => {
    // The watchdog beside a dead runner removes its containers.
    for (const one of parts.containers) {
      if (one.endedMs === null && one.id.startsWith(`${node.name}-`)) one.endedMs = parts.now() + 2000;
    }
  });
  bus.nc.subscribe(subjects.sandboxRun, {
    queue: "sandbox-runner",
    callback: (_, message) => {
      const request = decode(message.data) as SandboxRequest;
      const say = (event: object): void => void message.respond(encode(event));
      if (busy >= parts.slots) return say({ kind: "busy", retryAfterMs: 500 });
      busy += 1;
      void new Job(parts, request, say).run().finally(() => (busy -= 1));
    },
  });
}

class Job {
  private readonly parts: RunnerParts;
  private readonly request: SandboxRequest;
  private readonly say: (event: object) => void;
  private heardMs: number;
  private killed: "canceled" | "silent" | null = null;
  private collects = false;
  private wake: () => void = () => undefined;

  constructor(parts: RunnerParts, request: SandboxRequest, say: (event: object) => void) {
    this.parts = parts;
    this.request = request;
    this.say = say;
    this.heardMs = parts.now();
  }

  async run(): Promise<void> {
    const { bus, node, containers, chance, now } = this.parts;
    this.say({ kind: "accepted", node: node.name, image: "sim" });
    if (!node.act()) return; // Creating a container is an operation, so a crash can come before it.
    const life: ContainerLife = {
      id: `${node.name}-${containers.length}`,
      request: this.request,
      startedMs: now(),
      endedMs: null,
    };
    containers.push(life);
    const subscription = bus.nc.subscribe(subjects.sandboxJob(this.request.jobId), {
      callback: (_, message) => {
        this.heardMs = now();
        const said = decode(message.data) as SandboxSignal;
        if (said.kind !== "cancel") return;
        if (said.collect === true && this.killed !== null) return; // the requester repeats it
        this.collects = said.collect === true;
        this.kill("canceled");
      },
    });
    const beat = setInterval(() => {
      if (now() - this.heardMs > limits.sandboxSilenceMs) this.kill("silent");
      else this.say({ kind: "beat" });
    }, limits.sandboxBeatMs);
    try {
      await this.pause(chance.between(5, 40));
      this.say({ kind: "started", bootMs: 10, containerId: life.id });
      // Mostly short; some outlast an ack wait, so that fencing is needed.
      await this.pause(chance.hit(0.2) ? chance.between(2_000, 15_000) : chance.between(20, 1_500));
      if (this.collects) await this.collect();
      life.endedMs = now();
      if (this.killed !== "silent") this.say({ kind: "done", result: this.outcome(life) });
    } finally {
      clearInterval(beat);
      subscription.unsubscribe();
    }
  }

  private outcome(life: ContainerLife): SandboxOutcome {
    const { chance, files } = this.parts;
    const { killed, collects } = this;
    return outcomeOf(this.request, {
      ...{ containerId: life.id, killed: killed !== null, collects, chance, files },
    });
  }

  /** A second cancel ends it. */
  private collect(): Promise<void> {
    const { chance } = this.parts;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, chance.hit(0.1) ? 60_000 : chance.between(5, 2_000));
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private kill(why: "canceled" | "silent"): void {
    this.killed ??= why;
    this.wake();
  }

  private pause(ms: number): Promise<void> {
    if (this.killed !== null) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
