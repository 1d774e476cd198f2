// Formats a Director's key as a line of git's allowed-signers file (ssh-keygen(1), ALLOWED SIGNERS). Pure.
import type { DirectorKey } from "@antiphon/contracts";

/** The committer of Antiphon's commits. */
const PRINCIPAL = "antiphon@localhost";

export function allowedSigner({ x }: DirectorKey): string {
  const fields = [Buffer.from("ssh-ed25519"), Buffer.from(x, "base64url")];
  const blob = Buffer.concat(fields.flatMap((part) => [Buffer.from([0, 0, 0, part.length]), part]));
  return `${PRINCIPAL} namespaces="git" ssh-ed25519 ${blob.toString("base64")}`;
}
