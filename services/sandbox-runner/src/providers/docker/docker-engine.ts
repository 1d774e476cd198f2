/** Docker, as far as the sandbox-runner uses it. Only this file and docker-volumes.ts know dockerode. */
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import Docker from "dockerode";
import { AntiphonError } from "@antiphon/contracts";
import type { CreateBody, InspectedContainer } from "../container-spec.ts";
import type { ImageFacts } from "../../ports.ts";
import type { EngineAddress } from "../../reaper/watchdog.ts";
import { call, statusOf, unlessGone } from "./docker-call.ts";
import { volumeCalls } from "./docker-volumes.ts";

const WAIT_AGAIN_MS = 500;

export interface ListedContainer {
  readonly id: string;
  readonly name: string;
  readonly createdMs: number;
  readonly isRunning: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

/** A named volume. */
export interface Volume {
  readonly name: string;
  /** Where the engine has its files. */
  readonly path: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdMs: number;
}

export interface Engine {
  /** The engine's address, when that is a socket or plain HTTP; null for TLS and SSH. */
  address(): Promise<EngineAddress | null>;
  ping(): Promise<void>;
  image(reference: string): Promise<ImageFacts | null>;
  create(body: CreateBody, name: string): Promise<string>;
  attach(id: string): Promise<Duplex>;
  start(id: string): Promise<void>;
  inspect(id: string): Promise<InspectedContainer>;
  /** Resolves with the exit code when the container has been removed, or -1 if it already was. Never rejects. */
  removed(id: string): Promise<number>;
  kill(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  rename(id: string, name: string): Promise<void>;
  list(instance: string): Promise<ListedContainer[]>;
  /** The containers with this label, or with this value of it (`label=value`), in every state. */
  labelled(label: string): Promise<ListedContainer[]>;
  /** A volume that already has this name is returned as it is, with its own labels. */
  createVolume(name: string, labels: Readonly<Record<string, string>>): Promise<Volume>;
  volume(name: string): Promise<Volume | null>;
  /** The volumes whose names begin with `prefix`. */
  volumes(prefix: string): Promise<Volume[]>;
  /** "in-use" while a container refers to it. A volume that is gone is "removed". */
  removeVolume(name: string): Promise<"removed" | "in-use">;
  /** Calls back with the id of each container of the instance whose memory ran out, until aborted. */
  watchMemory(instance: string, onOom: (id: string) => void, signal: AbortSignal): Promise<void>;
}

export function dockerEngine(): Engine {
  const docker = new Docker();
  return {
    address: () => addressOf(docker),
    ping: async () => {
      await call("ping", docker.ping());
    },
    image: async (reference) => {
      try {
        const found = await call("inspect image", docker.getImage(reference).inspect());
        return {
          id: found.Id,
          env: found.Config.Env ?? [],
          volumes: Object.keys(found.Config.Volumes ?? {}),
          start: [...wordsOf(found.Config.Entrypoint), ...wordsOf(found.Config.Cmd)],
          directory: found.Config.WorkingDir === "" ? "/" : found.Config.WorkingDir,
          bytes: found.Size,
        };
      } catch (error) {
        if (statusOf(error) === 404) return null;
        if (statusOf(error) !== 400) throw error;
        const message = `${JSON.stringify(reference)} is not a valid image name`;
        throw new AntiphonError("ANT_SANDBOX_IMAGE_INVALID", message, { cause: error });
      }
    },
    create: async (body, name) => {
      // The body is the product of providers/container-spec.ts; dockerode's own type is wider, not narrower.
      const options = { ...body, name } as unknown as Docker.ContainerCreateOptions;
      return (await call("create", docker.createContainer(options))).id;
    },
    attach: async (id) => {
      const options = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
      return (await call("attach", docker.getContainer(id).attach(options))) as Duplex;
    },
    start: async (id) => {
      await call("start", docker.getContainer(id).start());
    },
    inspect: async (id) =>
      (await call("inspect", docker.getContainer(id).inspect())) as unknown as InspectedContainer,
    removed: (id) => removed(docker, id),
    kill: (id) => unlessGone(call("kill", docker.getContainer(id).kill({ signal: "SIGKILL" }))),
    remove: (id) => unlessGone(call("remove", docker.getContainer(id).remove({ force: true, v: true }))),
    rename: (id, name) => unlessGone(call("rename", docker.getContainer(id).rename({ name }))),
    list: (instance) => labelled(docker, `antiphon.instance=${instance}`),
    labelled: (label) => labelled(docker, label),
    ...volumeCalls(docker),
    watchMemory: (instance, onOom, signal) => watchMemory(docker, instance, onOom, signal),
  };
}

async function labelled(docker: Docker, label: string): Promise<ListedContainer[]> {
  const found = await call("list", docker.listContainers({ all: true, filters: { label: [label] } }));
  // A removal takes the name last. Docker 20.10 may list a container without a name for ever, although no other
  // call finds it. Such a container is gone.
  const there = found.filter(({ Names }) => Names.length > 0);
  return there.map((one) => ({
    id: one.Id,
    name: (one.Names[0] ?? "").replace(/^\//, ""),
    createdMs: one.Created * 1000,
    isRunning: one.State === "running",
    labels: one.Labels,
  }));
}

function wordsOf(words: string | readonly string[] | null | undefined): readonly string[] {
  if (words === null || words === undefined) return [];
  return typeof words === "string" ? [words] : words;
}

/** Never rejects: while the engine cannot be reached, it asks again. */
async function removed(docker: Docker, id: string): Promise<number> {
  for (;;) {
    try {
      const answer: unknown = await docker.getContainer(id).wait({ condition: "removed" });
      return (answer as { StatusCode: number }).StatusCode;
    } catch (error) {
      if (statusOf(error) === 404) return -1;
      await sleep(WAIT_AGAIN_MS, undefined, { ref: false });
    }
  }
}

async function watchMemory(
  docker: Docker,
  instance: string,
  onOom: (id: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const filters = JSON.stringify({
    type: ["container"],
    event: ["oom"],
    label: [`antiphon.instance=${instance}`],
  });
  const stream = await call("events", docker.getEvents({ filters }));
  const stop = (): void => {
    (stream as Duplex).destroy();
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  let text = "";
  try {
    for await (const chunk of stream) {
      text += String(chunk);
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const event = JSON.parse(line) as { Actor?: { ID?: string } };
        if (event.Actor?.ID !== undefined) onOom(event.Actor.ID);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** dockerode has read DOCKER_HOST and its companions; the result is in its modem. */
async function addressOf(docker: Docker): Promise<EngineAddress | null> {
  const modem = docker.modem as {
    socketPath?: string | (() => Promise<string>);
    host?: string;
    port?: string | number;
    protocol?: string;
  };
  if (typeof modem.socketPath === "function") return { socketPath: await modem.socketPath() };
  if (modem.socketPath !== undefined) return { socketPath: modem.socketPath };
  if (modem.protocol !== "http" || modem.host === undefined) return null;
  return { host: modem.host, port: Number(modem.port) };
}
