/** The image of a task, and the variables, the memory and the services that a run asks for, for each of its sandboxes. Pure. */
import { DEFAULT_IMAGE, type PlannedTask, type RunOptions } from "@antiphon/contracts";

/** In the names of a dispatch. Absent: none, and the runner's default. */
export type RunRoom = Pick<RunOptions, "env" | "memory_mib" | "services">;

export function roomOf({ env, memory_mib, services }: RunRoom): RunRoom {
  return {
    ...(env === undefined ? {} : { env }),
    ...(memory_mib === undefined ? {} : { memory_mib }),
    ...(services === undefined ? {} : { services }),
  };
}

/** A task may name its own; null: the standard image. */
export function imageOf({ image: own }: Pick<PlannedTask, "image">, { image }: Pick<RunOptions, "image">) {
  return own ?? image ?? null;
}

/** Programs that an image of the run lacks; undefined: none that are known. */
export function lackedBy(
  image: string | null,
  options: Pick<RunOptions, "image" | "image_lacks" | "task_image_lacks">,
): readonly string[] | undefined {
  const name = image ?? DEFAULT_IMAGE;
  return name === (options.image ?? DEFAULT_IMAGE) ? options.image_lacks : options.task_image_lacks?.[name];
}
