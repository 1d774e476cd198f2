/**
 * Chooses an image for a repository that names none: the standard image, unless the repository needs a toolchain which
 * that image lacks and an allowed image has. Pure.
 */
import { buildCommandFor, type SandboxImage } from "@antiphon/contracts";

export interface Needs {
  /** Programs beside those of the standard image. */
  readonly needs: readonly string[];
  /** The manifests that decided. */
  readonly because: readonly string[];
}

export interface ImageChoice {
  /** Null: the standard image. */
  readonly ref: string | null;
  /** For people; null: there is nothing to say. */
  readonly note: string | null;
}

/** @param images the list of the deployment; the smallest image that has everything is chosen */
export function chooseImage({ needs, because }: Needs, images: readonly SandboxImage[]): ImageChoice {
  if (needs.length === 0) return { ref: null, note: null };
  const suits = ({ programs, bytes, sealed }: SandboxImage): boolean =>
    bytes !== null && sealed !== false && needs.every((name) => programs?.includes(name) === true);
  const usable = images.filter(suits).sort((a, b) => (a.bytes ?? 0) - (b.bytes ?? 0));
  const why = `${because.join(", ")} ${because.length === 1 ? "asks" : "ask"} for ${needs.join(", ")}`;
  const [chosen] = usable;
  if (chosen !== undefined) {
    const isStandard = chosen.allowed_by === "setup";
    return { ref: isStandard ? null : (chosen.id ?? chosen.ref), note: `${why}; ${chosen.ref} has it` };
  }
  const command = buildCommandFor(needs);
  const remedy = command === null ? "allow an image that has it" : `\`${command}\` makes one`;
  return { ref: null, note: `${why}, and no allowed image is known to have it; ${remedy}` };
}
