/**
 * The rule that decides which images sandboxes may be made of. A list that cannot be read allows only the default image.
 *
 * Promises:
 *   sandbox-runner/S9 Because a name can be moved to other content, an image is allowed only by its digest, the id that
 *     the engine computes over its content; a listed name that points to other content is refused.
 */
export interface AllowedImage {
  /** Its name when it was allowed, for people only. */
  readonly ref: string;
  readonly id: string;
  /** ISO 8601. */
  readonly allowedAt: string;
  /** Programs of toolchains that it has; absent in lists of an earlier version. */
  readonly programs?: readonly string[];
}

export type Allowance =
  | { readonly kind: "allowed" }
  | { readonly kind: "moved"; readonly allowedId: string }
  | { readonly kind: "unknown" };

export function allowanceOf(list: readonly AllowedImage[], asked: string, id: string): Allowance {
  if (list.some((one) => one.id === id)) return { kind: "allowed" }; // sandbox-runner/S9
  const named = list.find((one) => one.ref === asked);
  return named === undefined ? { kind: "unknown" } : { kind: "moved", allowedId: named.id };
}

/** The list with the image added. A name stands for one image, so the entry that had this name before is dropped. */
export function withAllowed(list: readonly AllowedImage[], image: AllowedImage): AllowedImage[] {
  return [...list.filter((one) => one.ref !== image.ref), image];
}

/** The list without the images that `asked` names, by reference or by id. */
export function withoutAllowed(list: readonly AllowedImage[], asked: string): AllowedImage[] {
  const named = new Set(list.filter((one) => one.ref === asked).map((one) => one.id));
  return list.filter((one) => one.id !== asked && !named.has(one.id));
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Null when the text is not an allowlist. */
export function parseAllowlist(text: string): AllowedImage[] | null {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return null;
  }
  const { version, images } = (document ?? {}) as { version?: unknown; images?: unknown };
  if (version !== 1 || !Array.isArray(images)) return null;
  const isEntry = (one: Partial<AllowedImage> | null): boolean =>
    typeof one?.ref === "string" &&
    typeof one.id === "string" &&
    DIGEST.test(one.id) &&
    typeof one.allowedAt === "string" &&
    (one.programs === undefined || isTexts(one.programs));
  return images.every(isEntry) ? (images as AllowedImage[]) : null;
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

export function allowlistText(images: readonly AllowedImage[]): string {
  return `${JSON.stringify({ version: 1, images }, null, 2)}\n`;
}

/**
 * True for the values ANTIPHON_SANDBOX_ALLOW may hold: an image id, or a name with the digest that a registry gave it.
 */
export function isDigestReference(text: string): boolean {
  return DIGEST.test(text) || /^[^@\s]+@sha256:[0-9a-f]{64}$/.test(text);
}
