// Refuses a run for an image that no sandbox may be made of, before anything of it is done: its own, that of its repository, or a
// task's.
import { AntiphonError, DEFAULT_IMAGE } from "@antiphon/contracts";
import type { ErrorCode, NamedImage, RunOptions, SandboxImage } from "@antiphon/contracts";
import { allowedImages } from "./standard-image.ts";
import type { Backend } from "../ports.ts";

type Asked = Pick<Backend, "images">;

/**
 * While no sandbox-runner answers, nothing is refused: it checks each image again when it makes a sandbox.
 * @param ofRepository the image that the repository names for the run, which names none
 * @throws AntiphonError ANT_SANDBOX_IMAGE_NOT_ALLOWED, ANT_SANDBOX_IMAGE_MISSING
 */
export async function checkNamedImages(
  backend: Asked,
  { tasks = [], image: ofRun }: Pick<RunOptions, "tasks" | "image">,
  ofRepository: NamedImage | null,
): Promise<void> {
  const own = ofRun ?? ofRepository?.ref;
  const isNamed = (image: string): boolean => image !== DEFAULT_IMAGE;
  const named = tasks.flatMap(({ image }, i) =>
    image === undefined || image === own || !isNamed(image)
      ? []
      : [{ image, path: `/inputs/tasks/${i}/image` }],
  );
  const first = own !== undefined && isNamed(own) ? own : null;
  if (first === null && named.length === 0) return;
  const images = await allowedImages(backend);
  if (images === null) return;
  if (first !== null && rowsOf(images, first).length === 0 && (await isRefused(backend, first)))
    throw refused(
      "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
      first,
      ofRun === undefined ? ofRepository : "/inputs/image",
    );
  for (const { image, path } of named) {
    const rows = rowsOf(images, image);
    if (rows.length === 0) throw refused("ANT_SANDBOX_IMAGE_NOT_ALLOWED", image, path);
    if (rows.every(({ bytes }) => bytes === null)) throw refused("ANT_SANDBOX_IMAGE_MISSING", image, path);
  }
}

const rowsOf = (images: readonly SandboxImage[], image: string): SandboxImage[] =>
  images.filter(({ ref, id }) => ref === image || id === image);

/** The runner knows whether the image is an allowed one under another name. */
async function isRefused(backend: Asked, image: string): Promise<boolean> {
  try {
    await backend.images({ op: "list", look_into: image });
    return false;
  } catch (thrown) {
    if (thrown instanceof AntiphonError) return thrown.code === "ANT_SANDBOX_IMAGE_NOT_ALLOWED";
    throw thrown;
  }
}

const WHY = {
  ANT_SANDBOX_IMAGE_NOT_ALLOWED: "is not on this deployment's allowlist",
  ANT_SANDBOX_IMAGE_MISSING: "is allowed, and the engine does not have it",
} as const satisfies Partial<Record<ErrorCode, string>>;

function refused(code: keyof typeof WHY, image: string, by: NamedImage | string | null): AntiphonError {
  const place = typeof by === "string" ? by : (by?.from ?? "");
  const data = typeof by === "string" ? { path: by } : {};
  return new AntiphonError(code, `${place}: the image ${image} ${WHY[code]}`, { data });
}
