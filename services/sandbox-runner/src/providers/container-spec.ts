/**
 * The one place that defines a sandbox container.
 *
 * A ContainerSpec holds everything that can vary; `createBody` turns it into the request to Docker. It has no way to
 * express a path of the host, a device, a capability, a network or an environment variable, no user and no group but those
 * of sandbox-uids.ts, and no volume but those of workspace-mounts.ts. The image is given by id, because a name can be moved. A
 * service's container shares the network of a sandbox, which is none: the two meet on a loopback interface and nowhere else.
 *
 * PID 1 is the supervisor itself. An init beside it would share its frame stream, and the code under test could read the
 * init. The supervisor reaps, so no init is needed.
 *
 * Promises:
 *   sandbox-runner/S1 Because a container that differs from its request may be open to untrusted code, the engine's
 *     description must match the request, with unknown settings neutral, before the first byte of such code runs.
 */
import type { ContainerSpec, ImageFacts } from "../ports.ts";
import { LABELS } from "../reaper/reap-plan.ts";
import type { Json } from "./engine-json.ts";
import { ENVIRONMENT_GID } from "./sandbox-uids.ts";
import { memoryOf, mountDifferences, mountsOf, tmpfs, WORKSPACE } from "./workspace-mounts.ts";

const MiB = 1024 * 1024;
export const SHM_BYTES = 64 * MiB;

export interface CreateBody {
  readonly [key: string]: Json;
  readonly HostConfig: { readonly [key: string]: Json };
  readonly Labels: Readonly<Record<string, string>>;
}

export interface Environment {
  /** The supervisor: entrypoint and arguments. */
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** The seccomp profile as text. */
  readonly seccomp: string;
}

export function createBody(spec: ContainerSpec, environment: Environment): CreateBody {
  return {
    Image: spec.imageId,
    Entrypoint: environment.entrypoint,
    Cmd: environment.command,
    User: `${spec.uid}:${gidOf(spec)}`,
    WorkingDir: WORKSPACE,
    Hostname: spec.beside === undefined ? "sandbox" : "", // the engine takes no name for a shared network
    Domainname: "",
    Env: [],
    Labels: { ...spec.labels, [LABELS.uid]: String(spec.uid) },
    Tty: false,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    NetworkDisabled: isOnlyForFiles(spec),
    Healthcheck: { Test: ["NONE"] },
    HostConfig: hostConfig(spec, environment.seccomp),
  };
}

/**
 * The engine limits tasks of the host. gVisor's ptrace platform has several for each process of the sandbox, and its
 * kernel panics when it gets no more: with runc's limit, a dozen processes ended the container.
 */
function hostTasksPerProcess(runtime: string): number {
  return runtime === "runsc" ? 16 : 1;
}

/**
 * No code under test runs in such a container, so it needs no /etc/hosts. That is what the engine's set-up of a network adds to
 * `NetworkMode: none`, where a container has only a loopback interface of its own with it or without; up to Docker 27 it is half
 * of the cost of a start.
 */
function isOnlyForFiles({ workspace: { kind } }: ContainerSpec): boolean {
  return kind === "top" || kind === "fill";
}

/** A layer for several users belongs to their group. */
function gidOf({ uid, workspace }: ContainerSpec): number {
  return workspace.kind === "fill" && workspace.shared ? ENVIRONMENT_GID : uid;
}

/** A sandbox works on the files of its environment as a member of their group. */
function furtherGroups({ workspace }: ContainerSpec): { readonly [key: string]: Json } {
  const isOver = workspace.kind === "layers" && workspace.environment !== null;
  return isOver ? { GroupAdd: [String(ENVIRONMENT_GID)] } : {};
}

function hostConfig(spec: ContainerSpec, seccomp: string): CreateBody["HostConfig"] {
  const { limits, uid, beside, tmpfs: further = [] } = spec;
  const mounts = mountsOf(spec);
  return {
    AutoRemove: true,
    ReadonlyRootfs: true,
    Privileged: false,
    CapDrop: ["ALL"],
    ...furtherGroups(spec),
    SecurityOpt: ["no-new-privileges", `seccomp=${seccomp}`],
    NetworkMode: beside === undefined ? "none" : `container:${beside}`,
    IpcMode: "none",
    PidMode: "",
    UTSMode: "",
    Init: false, // PID 1 is the supervisor
    Runtime: limits.runtime,
    Memory: limits.memoryBytes,
    MemorySwap: limits.memoryBytes + limits.swapBytes, // both together
    NanoCpus: Math.round(limits.cpus * 1e9),
    PidsLimit: limits.pids * hostTasksPerProcess(limits.runtime),
    OomKillDisable: false,
    Ulimits: [
      { Name: "core", Soft: 0, Hard: 0 },
      { Name: "memlock", Soft: 65536, Hard: 65536 },
      { Name: "msgqueue", Soft: 0, Hard: 0 },
      { Name: "nofile", Soft: 4096, Hard: 4096 },
    ],
    Tmpfs: {
      ...memoryOf(spec),
      ...Object.fromEntries(
        further.map((path) => [path, tmpfs("exec", limits.tmpBytes, limits.tmpInodes, uid)]),
      ),
      "/dev/shm": tmpfs("noexec", SHM_BYTES, 4096, uid),
    },
    ...(mounts.length === 0 ? {} : { Mounts: mounts }),
    LogConfig: { Type: "none", Config: {} },
    RestartPolicy: { Name: "no", MaximumRetryCount: 0 },
  };
}

/** Fields that an engine fills in by itself, with their harmless values. Every other field must be neutral. */
const ENGINE_DEFAULTS: Readonly<Record<string, (value: Json) => boolean>> = {
  ShmSize: (value) => typeof value === "number" && value <= SHM_BYTES,
  ConsoleSize: () => true,
  CgroupnsMode: (value) => value === "private" || value === "host",
  Isolation: (value) => value === "" || value === "default",
  MaskedPaths: (value) =>
    includesAll(value, ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware"]),
  ReadonlyPaths: (value) =>
    includesAll(value, ["/proc/sys", "/proc/bus", "/proc/irq", "/proc/sysrq-trigger"]),
  MemorySwappiness: (value) => value === null || value === -1 || value === 0,
  OomKillDisable: (value) => value === false || value === null,
  Init: (value) => value === false || value === null,
};

/** The fields of the answer to `GET /containers/<id>/json` that are compared. */
export interface InspectedContainer {
  readonly Image: string;
  readonly Config: { readonly [key: string]: Json };
  readonly HostConfig: { readonly [key: string]: Json };
  readonly Mounts: readonly Json[];
}

/** All differences between the engine's container and the requested one; empty when they are equal. */
export function differences(
  spec: ContainerSpec,
  environment: Environment,
  image: ImageFacts,
  actual: InspectedContainer,
): string[] {
  const asked = createBody(spec, environment);
  const found: string[] = [];
  const compare = (where: string, expected: Json, value: Json | undefined): void => {
    if (canonical(expected) !== canonical(value ?? null)) found.push(`${where} is ${brief(value ?? null)}`);
  };
  if (actual.Image !== spec.imageId) found.push(`Image is ${actual.Image}`);
  for (const key of ["Entrypoint", "Cmd", "User", "WorkingDir", "Tty", "OpenStdin", "StdinOnce"] as const) {
    compare(`Config.${key}`, asked[key] ?? null, actual.Config[key]);
  }
  const allowedEnv = new Set(image.env);
  for (const entry of asArray(actual.Config["Env"])) {
    if (typeof entry !== "string" || !allowedEnv.has(entry)) found.push(`Config.Env has ${brief(entry)}`);
  }
  // Those of the image are directories in memory, or there would be a mount for them.
  const covered = new Set(spec.tmpfs ?? []);
  const volumes = actual.Config["Volumes"] ?? null;
  const uncovered = isRecord(volumes) ? Object.keys(volumes).filter((path) => !covered.has(path)) : [];
  if (uncovered.length > 0 || !(isRecord(volumes) || isNeutral(volumes)))
    found.push("Config.Volumes is not empty"); // sandbox-runner/S1
  for (const [label, value] of Object.entries(asked.Labels)) {
    const labels = actual.Config["Labels"];
    compare(`label ${label}`, value, isRecord(labels) ? labels[label] : null);
  }
  for (const [key, value] of Object.entries(actual.HostConfig)) {
    const rule = ENGINE_DEFAULTS[key];
    if (rule !== undefined) {
      if (!rule(value)) found.push(`HostConfig.${key} is ${brief(value)}`);
    } else if (Object.hasOwn(asked.HostConfig, key))
      compare(`HostConfig.${key}`, asked.HostConfig[key] ?? null, value);
    else if (!isNeutral(value)) found.push(`HostConfig.${key} is ${brief(value)}`); // sandbox-runner/S1
  }
  for (const key of Object.keys(asked.HostConfig)) {
    if (!Object.hasOwn(actual.HostConfig, key)) found.push(`HostConfig.${key} is missing`);
  }
  found.push(...mountDifferences(spec, actual.Mounts)); // sandbox-runner/S1
  return found;
}

function isNeutral(value: Json): boolean {
  if (value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

function isRecord(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asArray(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function includesAll(value: Json, required: readonly string[]): boolean {
  const present = asArray(value);
  return required.every((path) => present.includes(path));
}

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(canonical).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`).join(",")}}`;
}

function brief(value: Json): string {
  const text = canonical(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
