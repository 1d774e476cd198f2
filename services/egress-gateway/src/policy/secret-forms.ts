/**
 * The forms in which a secret could come back in an answer: as it is, backwards, in hexadecimal and in base64 at any place
 * of a longer text. Pure. Escapes (percent, JSON, HTML, UTF-16) are undone before these are searched for (escaped-text.ts).
 */

/** Shorter texts are too common to be masked. */
const SHORTEST = 6;

/** Lower case, because bytes are compared without their case; each form once, the longest first. */
export function formsOf(secrets: readonly string[]): readonly string[] {
  const forms = new Set<string>();
  const add = (form: string): void => {
    const lower = form.toLowerCase();
    if (lower !== "") forms.add(lower);
  };
  for (const secret of secrets) {
    add(Buffer.from(secret, "utf8").toString("latin1"));
    if (secret.length < SHORTEST) continue;
    const bytes = Buffer.from(secret, "utf8");
    const pairs = bytes.toString("hex").match(/../g) ?? [];
    for (const form of [Buffer.from(bytes).reverse().toString("latin1"), pairs.join(""), pairs.join(":")])
      add(form);
    for (const form of base64FormsOf(bytes)) add(form);
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

/** A byte begins at one of three places in a group of base64. Characters that depend on the neighbours are left out. */
function base64FormsOf(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor(((offset + bytes.length) * 8) / 6);
    const form = whole.slice(from, to);
    if (form.length < SHORTEST) return [];
    return [form, form.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
