// Falls back to the standard image. A devcontainer.json names an editor's image, which is often missing here or not built
// yet. Such a run is not refused: it uses the standard image, and its record says why. An image named by antiphon.yaml or
// by the run itself is meant for sandboxes and is never replaced.
import { AntiphonError } from "@antiphon/contracts";
import type { RepoInspectRequest } from "@antiphon/contracts";
import type { Backend, Inspected } from "../ports.ts";

type Asked = Pick<Backend, "inspect" | "images">;

export async function inspectWithFallback(backend: Asked, request: RepoInspectRequest): Promise<Inspected> {
  const found = await orWithoutImage(backend, request);
  const { image } = found;
  if (image === null || !image.from.includes("devcontainer")) return found;
  if (await isHere(backend, image.ref)) return found;
  const image_note = `${image.from} names ${image.ref}, which is not allowed here; \`antiphon images allow ${image.ref}\` allows it`;
  return { ...found, image: null, image_note };
}

/** Also true while no sandbox-runner answers: it checks the image itself when it is back. */
async function isHere(backend: Asked, wanted: string): Promise<boolean> {
  try {
    const { images } = await backend.images({ op: "list" });
    return images.some(({ ref, id, bytes }) => (ref === wanted || id === wanted) && bytes !== null);
  } catch (thrown) {
    if (thrown instanceof AntiphonError && thrown.code === "ANT_SANDBOX_RUNNER_LOST") return true;
    throw thrown;
  }
}

/** The Director refuses a devcontainer.json without an image; the second request tells it to ignore that file. */
async function orWithoutImage(backend: Asked, request: RepoInspectRequest): Promise<Inspected> {
  try {
    return await backend.inspect(request);
  } catch (thrown) {
    if (!(thrown instanceof AntiphonError) || thrown.code !== "ANT_REPO_DEVCONTAINER") throw thrown;
    return { ...(await backend.inspect({ ...request, image_named: true })), image_note: thrown.detail };
  }
}
