/** Keeps the bytes that a session's client uploads, and tells their kind by name and content type. */
import type { ArtifactKind } from "@antiphon/contracts";
import type { Deed } from "./deed.ts";

const KINDS: readonly (readonly [RegExp, ArtifactKind])[] = [
  [/\.patch$|^[a-z]+\/x-patch\b/i, "Patch"],
  [/\.diff$|^[a-z]+\/x-diff\b/i, "Diff"],
  [/(?:^|[^a-z])(?:tests?|junit)(?:[^a-z]|$)/i, "TestResults"],
];

export function artifactKind(name: string, contentType: string): ArtifactKind {
  const known = KINDS.find(([form]) => form.test(name) || form.test(contentType));
  return known === undefined ? "Log" : known[1];
}

export function uploadArtifact(): Deed<"UploadArtifact"> {
  return ({ payload: { name, contentType, content }, workspace }) => {
    const bytes = Buffer.from(content, "base64");
    const artifact = { kind: artifactKind(name, contentType), bytes, pathHint: name };
    const message = `${name}: ${bytes.length} bytes of ${contentType} are kept`;
    return Promise.resolve({ workspace, message, artifacts: [artifact] });
  };
}
