/** The image of a task, and the variables, the memory and the services that a run asks for, for each of its sandboxes. Pure. */
import type { PlannedTask, RunOptions } from "@antiphon/contracts";

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
