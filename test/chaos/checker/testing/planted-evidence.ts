/** Violations of I6: missing or wrong evidence. */
import type { History } from "../history.ts";
import type { Plant } from "./plant.ts";
import { ATTEMPT_KEY, proven, recordOf, VERDICT_KEY } from "./proven.ts";
import type { Scene } from "./scene.ts";

const OTHER_TREE = "f".repeat(40);

function spoiled(spoil: (scene: Scene) => void): () => History {
  return () => {
    const scene = proven();
    spoil(scene);
    return scene.history({ evidence: true, engine: true });
  };
}

const plant = (name: string, rule: string, atMost: number, spoil: (scene: Scene) => void): Plant => ({
  name,
  invariant: "I6",
  rule,
  atMost,
  history: spoiled(spoil),
});

export const PLANTED_EVIDENCE: readonly Plant[] = [
  plant("the attempt's evidence is gone", "evidence-lost", 4, (scene) => {
    scene.manifests.splice(
      0,
      scene.manifests.length,
      ...scene.manifests.filter(({ key }) => key !== ATTEMPT_KEY),
    );
  }),
  plant("the verdict's evidence was changed", "evidence-changed", 4, (scene) => {
    for (const manifest of scene.manifests)
      if (manifest.key === VERDICT_KEY) manifest.digest = recordOf(scene, "claim").digest;
  }),
  plant("a log of the evidence is gone", "file-broken", 4, (scene) => {
    scene.blobs.pop();
  }),
  plant("the diff was changed after the verdict", "diff-broken", 3, (scene) => {
    const [diff] = scene.blobs;
    if (diff !== undefined) diff.digest = recordOf(scene, "claim").digest;
  }),
  plant("the diff gives another tree than the one that landed", "other-tree", 6, (scene) => {
    for (const patched of scene.patched) patched.tree = OTHER_TREE;
  }),
  plant("another tree was verified than landed", "unverified-tree", 5, (scene) => {
    recordOf(scene, "verdict").body.tree = OTHER_TREE;
  }),
  plant("the landed commit names other evidence", "commit-unproven", 5, (scene) => {
    for (const commit of scene.commits)
      commit.trailers = { ...commit.trailers, "Antiphon-Evidence": "sha256-x" };
  }),
];
