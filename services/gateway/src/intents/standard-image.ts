// Chooses the image of a run, and falls back to the standard image. A devcontainer.json names an editor's image, which is often missing here or not built
// yet. Such a run is not refused: it uses the standard image, and its record says why. An image named by antiphon.yaml or
// by the run itself is meant for sandboxes and is never replaced.
import { AntiphonError } from "@antiphon/contracts";
import type { RepoInspectRequest, SandboxImage } from "@antiphon/contracts";
import { chooseImage } from "./image-choice.ts";
import type { Backend, Inspected } from "../ports.ts";

type Asked = Pick<Backend, "inspect" | "images">;

/**
 * Inspects a repository and chooses its image, where neither the run nor the repository names one.
 * @param fallback whether a devcontainer.json may be ignored
 */
export async function inspectWithImage(
  backend: Asked,
  request: RepoInspectRequest,
  fallback: boolean,
): Promise<Inspected> {
  const found = fallback ? await inspectWithFallback(backend, request) : await backend.inspect(request);
  const { needs = [], needs_because: because = [] } = found;
  if (request.image_named === true || found.image !== null || needs.length === 0) return found;
  const images = await allowedImages(backend);
  if (images === null) return found;
  const { ref, note } = chooseImage({ needs, because }, images);
  const notes = [found.image_note, note].filter((one) => one !== undefined && one !== null);
  return {
    ...found,
    ...(ref === null ? {} : { chosen_image: ref }),
    ...(notes.length === 0 ? {} : { image_note: notes.join("; ") }),
  };
}

/** Null while no sandbox-runner answers: the run goes on with the standard image when one is back. */
export async function allowedImages(
  backend: Pick<Backend, "images">,
): Promise<readonly SandboxImage[] | null> {
  try {
    return (await backend.images({ op: "list" })).images;
  } catch (thrown) {
    if (thrown instanceof AntiphonError && thrown.code === "ANT_SANDBOX_RUNNER_LOST") return null;
    throw thrown;
  }
}

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
  const images = await allowedImages(backend);
  if (images === null) return true;
  return images.some(({ ref, id, bytes }) => (ref === wanted || id === wanted) && bytes !== null);
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
