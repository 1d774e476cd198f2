/**
 * The mounts of a sandbox container: the whole of what can be asked of an engine. Pure.
 *
 * A layered sandbox is mounted by the engine: /workspace and HOME are overlays of read-only volumes under a top of their
 * own, a tmpfs with a size and a number of inodes. The top's directories are made in another container, of our image,
 * which has ended by then: the overlay keeps the tmpfs alive. Everything a path of the host is made of here was chosen by
 * the engine (a volume's mount point) or by this file; nothing that a sandbox or a layer contains is part of such a path.
 *
 * The volumes of the layers are mounted as well, read-only, below a directory that the sandbox's user cannot enter. So the
 * engine itself knows that they are in use, and refuses to remove or prune them.
 */
import type { ContainerSpec, LowerVolume, WorkspaceSource } from "../ports.ts";
import { LAYERED_HOME } from "../layers/layer-store.ts";
import type { Json } from "./engine-json.ts";

export const WORKSPACE = "/workspace";
/** The top's files as they are, read-only: what a sandbox has changed (supervisor/sealed/upper.pl). */
export const UPPER = "/run/antiphon/upper";
const HIDDEN = "/run/antiphon/layers";
/** Where a layer's files are unpacked. The engine gives a new volume the mode of the image's /tmp, so anyone may write. */
export const UNPACKED = "/tmp";
/** The directories of a top: the files and the work space of each overlay. */
export const TOP_DIRECTORIES = ["files", "files.work", "home", "home.work"] as const;
/** The features of an overlay that would make the top unreadable by itself are off, whatever the kernel's defaults are. */
const OVERLAY_FEATURES = "redirect_dir=off,metacopy=off,index=off,xino=off";

/** The parts of a container that its mounts follow from. */
export type Mounted = Pick<ContainerSpec, "workspace" | "limits" | "uid">;

export interface Mount {
  readonly [key: string]: Json;
  readonly Type: "volume";
  readonly Target: string;
}

export function mountsOf(mounted: Mounted): readonly Mount[] {
  const { workspace: source } = mounted;
  switch (source.kind) {
    case "memory":
      return [];
    case "top":
      return [anonymous(WORKSPACE, { type: "tmpfs", device: "tmpfs", o: topOptions(mounted) })];
    case "fill":
      return [{ Type: "volume", Source: source.volume, Target: UNPACKED }];
    case "layers":
      return layered(source);
  }
}

/** The tmpfs mounts besides: all but those that a volume takes the place of. */
export function memoryOf({ workspace: source, limits, uid }: Mounted): Readonly<Record<string, string>> {
  const workspace = { [WORKSPACE]: tmpfs("exec", limits.workspaceBytes, limits.workspaceInodes, uid) };
  const tmp = { [UNPACKED]: tmpfs("exec", limits.tmpBytes, limits.tmpInodes, uid) };
  switch (source.kind) {
    case "memory":
      return { ...workspace, ...tmp };
    case "top":
      return tmp;
    case "fill":
      return workspace;
    case "layers":
      return { ...tmp, [HIDDEN]: "ro,noexec,nosuid,nodev,size=4096,mode=0700" };
  }
}

/** A directory in memory that belongs to the user. */
export function tmpfs(exec: "exec" | "noexec", bytes: number, inodes: number, uid: number): string {
  return `rw,${exec},nosuid,nodev,${room(bytes, inodes, uid)}`;
}

/** All differences between the engine's own list of mounts and the requested ones. */
export function mountDifferences(mounted: Mounted, actual: readonly Json[]): string[] {
  const asked = mountsOf(mounted);
  const paths = new Map(lowersOf(mounted.workspace).map(({ name, path }) => [name, path]));
  if (actual.length !== asked.length) return [`Mounts has ${actual.length} entries`];
  return asked.flatMap((mount) => {
    const found = actual.find((one) => fieldOf(one, "Destination") === mount.Target);
    const name = mount["Source"] ?? null;
    const at = fieldOf(found, "Name");
    const isNamed = name === null ? typeof at === "string" && /^[0-9a-f]{64}$/.test(at) : at === name;
    const path = typeof name === "string" ? paths.get(name) : undefined;
    const isSame =
      isNamed &&
      fieldOf(found, "Type") === "volume" &&
      fieldOf(found, "Driver") === "local" &&
      fieldOf(found, "RW") === (mount["ReadOnly"] !== true) &&
      (path === undefined || fieldOf(found, "Source") === path);
    return isSame ? [] : [`the mount at ${mount.Target} is another`];
  });
}

/** Mount options are separated by commas and colons, and no engine keeps its volumes under such a path. */
export const isPlainPath = (path: string): boolean => /^\/[A-Za-z0-9._/-]+$/.test(path);

function layered(source: Extract<WorkspaceSource, { kind: "layers" }>): readonly Mount[] {
  const { top, tree, environment } = source;
  const [files, filesWork, home, homeWork] = TOP_DIRECTORIES.map((name) => `${top}/${name}`);
  const workspace = [tree, environment?.workspace ?? null].filter((one) => one !== null);
  return [
    overlay(WORKSPACE, workspace, files ?? "", filesWork ?? ""),
    environment === null
      ? bind(LAYERED_HOME, home ?? "", "bind,nosuid,nodev")
      : overlay(LAYERED_HOME, [environment.home], home ?? "", homeWork ?? ""),
    bind(UPPER, files ?? "", "bind,ro,nosuid,nodev"),
    ...lowersOf(source).map(({ name }, at) => ({
      Type: "volume" as const,
      Source: name,
      Target: `${HIDDEN}/${at}`,
      ReadOnly: true,
      VolumeOptions: { NoCopy: true },
    })),
  ];
}

function lowersOf(source: WorkspaceSource): readonly LowerVolume[] {
  if (source.kind !== "layers") return [];
  const { tree, environment } = source;
  return [tree, environment?.workspace ?? null, environment?.home ?? null].filter((one) => one !== null);
}

function overlay(target: string, lowers: readonly LowerVolume[], upper: string, work: string): Mount {
  const lower = lowers.map(({ path }) => path).join(":"); // the first hides the others
  const o = `nosuid,nodev,lowerdir=${lower},upperdir=${upper},workdir=${work},${OVERLAY_FEATURES}`;
  return anonymous(target, { type: "overlay", device: "overlay", o });
}

function bind(target: string, path: string, options: string): Mount {
  return anonymous(target, { type: "none", device: path, o: options });
}

/** A volume without a name, which the engine removes with its container. */
function anonymous(target: string, options: { readonly [key: string]: string }): Mount {
  return {
    Type: "volume",
    Target: target,
    VolumeOptions: { NoCopy: true, DriverConfig: { Name: "local", Options: options } },
  };
}

function topOptions({ limits, uid }: Mounted): string {
  return `nosuid,nodev,${room(limits.workspaceBytes, limits.workspaceInodes, uid)}`;
}

function room(bytes: number, inodes: number, uid: number): string {
  return `size=${bytes},nr_inodes=${inodes},mode=0700,uid=${uid},gid=${uid}`;
}

function fieldOf(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as { readonly [key: string]: Json })[key];
}
