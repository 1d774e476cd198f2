/**
 * Reads the image from a `devcontainer.json`. Pure.
 *
 * The file is JSON with comments and trailing commas. Its features, mounts, users and commands do not apply to a sandbox
 * and are ignored. An image that must be built first and a compose file are reported apart, because their remedies
 * differ.
 */
export type Devcontainer =
  | { readonly kind: "image"; readonly ref: string }
  | { readonly kind: "build"; readonly dockerfile: string }
  | { readonly kind: "none"; readonly reason: string };

const LONGEST = 256 * 1024;

export function readDevcontainer(text: string): Devcontainer {
  if (text.length > LONGEST) return none("it is larger than 256 KiB");
  const document = parsed(text);
  if (document === null) return none("it is not JSON with comments");
  const { image, build, dockerFile, dockerComposeFile } = document;
  if (typeof image === "string" && image.trim() !== "") return { kind: "image", ref: image.trim() };
  const dockerfile = asRecord(build)?.["dockerfile"] ?? asRecord(build)?.["dockerFile"] ?? dockerFile;
  if (typeof dockerfile === "string") return { kind: "build", dockerfile };
  return none(dockerComposeFile === undefined ? "it names no image" : "it uses a compose file");
}

const none = (reason: string): Devcontainer => ({ kind: "none", reason });

function parsed(text: string): Record<string, unknown> | null {
  try {
    return asRecord(JSON.parse(plainJson(text.replace(/^\ufeff/, ""))));
  } catch {
    return null;
  }
}

function asRecord(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/** Removes comments and trailing commas in one pass, whatever the text contains. */
function plainJson(text: string): string {
  const out: string[] = [];
  let comma = -1; // Position in `out` of a comma that nothing has followed yet.
  for (let at = 0; at < text.length;) {
    const end = endOfPiece(text, at);
    const piece = text.slice(at, end);
    at = end;
    if (piece.startsWith("//") || piece.startsWith("/*") || piece.trim() === "") continue;
    if ((piece === "}" || piece === "]") && comma >= 0) out[comma] = " ";
    comma = piece === "," ? out.length : -1;
    out.push(piece);
  }
  return out.join("");
}

/** End of the string, comment or character that begins at `at`. One without an end extends to the end of the text. */
function endOfPiece(text: string, at: number): number {
  const upTo = (end: string, from: number): number => {
    const found = text.indexOf(end, from);
    return found < 0 ? text.length : found + end.length;
  };
  if (text.startsWith("//", at)) return upTo("\n", at);
  if (text.startsWith("/*", at)) return upTo("*/", at + 2);
  if (text[at] !== '"') return at + 1;
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === '"') return end + 1;
  }
  return text.length;
}
