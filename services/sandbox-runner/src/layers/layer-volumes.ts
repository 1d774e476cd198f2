/**
 * Reads and plans the volumes that hold layers. Pure: a listing of volumes comes in, decisions come out.
 *
 * A copy of a layer is one volume for each of its directories, with names that are used once, and a seal: an empty volume
 * whose name says which layer it is of and whom it is for, and whose labels name the others. A tree's copy is for one user,
 * an environment's is for all. A seal is made when the files are whole and on disk, and the engine makes it in one piece, so
 * a layer without a seal does not exist. A volume that no seal names is a fill under way or what is left of one.
 */
import type { LayerFacts, LayerKind, LayerName } from "./layer-store.ts";
import type { OwnerState } from "@antiphon/runtime";

const PREFIX = "antiphon-layer-";
const LABELS = {
  instance: "antiphon.instance",
  owner: "antiphon.owner",
  kind: "antiphon.layer.kind",
  digest: "antiphon.layer.digest",
  for: "antiphon.layer.for",
  bytes: "antiphon.layer.bytes",
  volumes: "antiphon.layer.volumes",
} as const;

export interface LayerVolume {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdMs: number;
}

/** A directory of a layer's tar that is mounted, from a volume of its own; "" is the whole of it. */
export type LayerPart = "" | "workspace" | "home";

export const PARTS: Readonly<Record<LayerKind, readonly LayerPart[]>> = {
  tree: [""],
  environment: ["workspace", "home"],
  owned: ["workspace", "home"],
};

/** Whom a copy is for: the user that owns its files, or every member of a group. */
export type CopyFor = number | "all";

export const whomFor = ({ kind }: LayerName, uid: number): CopyFor => (kind === "environment" ? "all" : uid);

export interface SealedLayer extends LayerFacts {
  readonly seal: LayerVolume;
  readonly for: CopyFor;
  /** In the order of PARTS. */
  readonly volumes: readonly string[];
}

export const prefixOf = (instance: string): string => `${PREFIX}${instance}-`;
/** What the names of the seals of all copies begin with. */
export const copiesPrefix = (instance: string, { kind, digest }: LayerName): string =>
  `${prefixOf(instance)}${kind}-${digest}-`;
export const sealName = (instance: string, name: LayerName, whom: CopyFor): string =>
  `${copiesPrefix(instance, name)}${whom}`;
export const partName = (instance: string, unique: string): string => `${prefixOf(instance)}files-${unique}`;
export const keyOf = ({ kind, digest }: LayerName): string => `${kind}-${digest}`;

export function sealLabels(
  instance: string,
  { kind, digest }: LayerName,
  whom: CopyFor,
  bytes: number,
  volumes: readonly string[],
): Readonly<Record<string, string>> {
  return {
    [LABELS.instance]: instance,
    [LABELS.kind]: kind,
    [LABELS.digest]: digest,
    [LABELS.for]: String(whom),
    [LABELS.bytes]: String(bytes),
    [LABELS.volumes]: volumes.join(","),
  };
}

export function partLabels(instance: string, owner: string): Readonly<Record<string, string>> {
  return { [LABELS.instance]: instance, [LABELS.owner]: owner };
}

/**
 * Null for a volume that is no seal, also for one that the engine made by itself because something named it, and for one of
 * a release that had other copies.
 */
export function sealedIn(volume: LayerVolume): SealedLayer | null {
  const { labels, createdMs } = volume;
  const kind = labels[LABELS.kind];
  const digest = labels[LABELS.digest];
  const whom = copyFor(labels[LABELS.for]);
  const volumes = labels[LABELS.volumes]?.split(",") ?? [];
  if (!isKind(kind) || digest === undefined || whom === null) return null;
  if ((whom === "all") !== (kind === "environment")) return null;
  if (volumes.length !== PARTS[kind].length) return null;
  const bytes = Number(labels[LABELS.bytes]);
  return { kind, digest, for: whom, bytes, createdMs, seal: volume, volumes };
}

function isKind(kind: string | undefined): kind is LayerKind {
  return kind !== undefined && Object.hasOwn(PARTS, kind);
}

function copyFor(label: string | undefined): CopyFor | null {
  if (label === undefined || label === "all") return label ?? null;
  const uid = Number(label);
  return Number.isInteger(uid) ? uid : null;
}

export function sealsIn(found: readonly LayerVolume[]): readonly SealedLayer[] {
  return found.flatMap((one) => sealedIn(one) ?? []);
}

export interface KeepBounds {
  readonly maxBytes: number;
  readonly maxIdleMs: number;
}

/** The layers to remove: those that were unused for too long, then those unused for longest until the rest fits. */
export function surplus(
  sealed: readonly SealedLayer[],
  usedMs: (layer: SealedLayer) => number,
  { maxBytes, maxIdleMs }: KeepBounds,
  nowMs: number,
): readonly SealedLayer[] {
  const latestFirst = [...sealed].sort((a, b) => usedMs(b) - usedMs(a));
  let kept = 0;
  return latestFirst.filter((layer) => {
    const fits = kept + layer.bytes <= maxBytes && nowMs - usedMs(layer) <= maxIdleMs;
    if (fits) kept += layer.bytes;
    return !fits;
  });
}

export interface LooseFacts {
  readonly nowMs: number;
  /** The volumes of fills that are under way here. */
  readonly filling: ReadonlySet<string>;
  readonly self: string;
  readonly ownerState: (owner: string) => OwnerState;
  /** How long a fill of an owner that cannot be checked may take. */
  readonly mostMs: number;
}

/** The volumes that no seal names and that nobody is filling. */
export function abandoned(found: readonly LayerVolume[], facts: LooseFacts): readonly LayerVolume[] {
  const named = new Set(sealsIn(found).flatMap(({ volumes }) => volumes));
  return found.filter((one) => {
    if (sealedIn(one) !== null || named.has(one.name) || facts.filling.has(one.name)) return false;
    const owner = one.labels[LABELS.owner];
    const state = owner === undefined ? "unknown" : owner === facts.self ? "gone" : facts.ownerState(owner);
    return state === "gone" || (state === "unknown" && facts.nowMs - one.createdMs > facts.mostMs);
  });
}

/** The seals whose files somebody else removed. */
export function hollow(found: readonly LayerVolume[]): readonly SealedLayer[] {
  const names = new Set(found.map(({ name }) => name));
  return sealsIn(found).filter(({ volumes }) => !volumes.every((name) => names.has(name)));
}
