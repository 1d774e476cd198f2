// Refuses a plan with a task whose image no sandbox may be made of, before anything of the plan is done.
import { AntiphonError, DEFAULT_IMAGE } from "@antiphon/contracts";
import type { RunOptions } from "@antiphon/contracts";
import { allowedImages } from "./standard-image.ts";
import type { Backend } from "../ports.ts";

/**
 * While no sandbox-runner answers, nothing is refused: it checks each image again when it makes a sandbox.
 * @throws AntiphonError ANT_SANDBOX_IMAGE_NOT_ALLOWED, ANT_SANDBOX_IMAGE_MISSING
 */
export async function checkTaskImages(
  backend: Pick<Backend, "images">,
  { tasks = [], image: ofRun }: Pick<RunOptions, "tasks" | "image">,
): Promise<void> {
  const asked = tasks.flatMap(({ image }, i) => (image === undefined ? [] : [{ image, i }]));
  const named = asked.filter(({ image }) => image !== DEFAULT_IMAGE && image !== ofRun);
  if (named.length === 0) return;
  const images = await allowedImages(backend);
  if (images === null) return;
  for (const { image, i } of named) {
    const path = `/inputs/tasks/${i}/image`;
    const known = images.filter(({ ref, id }) => ref === image || id === image);
    if (known.length === 0)
      throw new AntiphonError(
        "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
        `${path}: the image ${image} is not on this deployment's allowlist`,
        { data: { path } },
      );
    if (known.every(({ bytes }) => bytes === null))
      throw new AntiphonError(
        "ANT_SANDBOX_IMAGE_MISSING",
        `${path}: the image ${image} is allowed, and the engine does not have it`,
        { data: { path } },
      );
  }
}
