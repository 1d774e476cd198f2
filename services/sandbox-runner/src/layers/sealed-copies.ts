/** Reads which sealed copies of a layer an engine has. */
import type { Engine } from "../providers/docker/docker-engine.ts";
import type { LayerName } from "./layer-store.ts";
import { failed } from "./layer-unpacking.ts";
import {
  copiesPrefix,
  sealedIn,
  sealName,
  sealsIn,
  type CopyFor,
  type SealedLayer,
} from "./layer-volumes.ts";

export interface LayerPlace {
  readonly engine: Engine;
  readonly instance: string;
}

export async function copiesOf(
  { engine, instance }: LayerPlace,
  name: LayerName,
): Promise<readonly SealedLayer[]> {
  return sealsIn(await engine.volumes(copiesPrefix(instance, name)));
}

export async function sealedCopy(
  { engine, instance }: LayerPlace,
  name: LayerName,
  whom: CopyFor,
): Promise<SealedLayer | null> {
  const volume = await engine.volume(sealName(instance, name, whom));
  return volume === null ? null : sealedIn(volume);
}

/** @throws AntiphonError ANT_SANDBOX_FAILED always */
export function missing({ kind, digest }: LayerName): never {
  throw failed(`the layer of the ${kind} ${digest.slice(0, 12)} is no longer there`);
}
