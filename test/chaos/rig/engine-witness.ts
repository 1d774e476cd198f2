/** Records the container engine's events about the containers of one instance. */
import { execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { ContainerEvent, ContainerJob } from "../checker/history.ts";

const NAME = /-(run_[a-z0-9]+)-(.+)-(\d+)-(attempt|verify|base)-[^-]+$/;
const ACTIONS: Readonly<Record<string, ContainerEvent["action"]>> = {
  create: "create",
  start: "start",
  rename: "assign",
  die: "die",
  destroy: "destroy",
};

interface EngineEvent {
  Action: string;
  timeNano: number;
  Actor: { ID: string; Attributes: Record<string, string> };
}

export interface EngineWitness {
  readonly events: readonly ContainerEvent[];
  stop(): void;
}

export function watchEngine(instance: string): EngineWitness {
  const args = ["events", "--filter", `label=antiphon.instance=${instance}`, "--format", "{{json .}}"];
  const child = spawn("docker", args, { stdio: ["ignore", "pipe", "ignore"] });
  const events: ContainerEvent[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { Action, Actor, timeNano } = JSON.parse(line) as EngineEvent;
    const action = ACTIONS[Action];
    if (action === undefined) return;
    const job = jobOf(Actor.Attributes["name"] ?? "");
    events.push({ id: Actor.ID.slice(0, 12), atMs: timeNano / 1e6, action, job });
  });
  return { events, stop: () => void child.kill("SIGTERM") };
}

/** The runner names each container after its job. */
export function jobOf(name: string): ContainerJob | null {
  const [, runId, taskId, epoch, purpose] = NAME.exec(name) ?? [];
  if (runId === undefined || taskId === undefined) return null;
  return { runId, taskId, epoch: Number(epoch), purpose: purpose as ContainerJob["purpose"] };
}

/** Containers that the engine still has at the end. */
export function containersLeft(instance: string): string[] {
  const args = ["ps", "--all", "--quiet", "--filter", `label=antiphon.instance=${instance}`];
  return execFileSync("docker", args, { encoding: "utf8" })
    .split("\n")
    .filter((id) => id !== "");
}

export function removeContainers(ids: readonly string[]): void {
  if (ids.length > 0) execFileSync("docker", ["rm", "--force", ...ids], { stdio: "ignore" });
}
