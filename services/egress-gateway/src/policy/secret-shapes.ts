/**
 * Masks secrets that are known, and texts that look like one: keys of well-known providers, tokens, private keys. Pure.
 *
 * Every repeat has a bound, so the time grows with the length of the text only. A mask keeps the length.
 */
const KEYS = [
  "sk-[A-Za-z0-9_-]{20,256}", // OpenAI, Anthropic, OpenRouter
  "(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{20,256}", // Stripe
  "gh[pousr]_[A-Za-z0-9]{30,255}",
  "github_pat_[A-Za-z0-9_]{30,255}",
  "glpat-[A-Za-z0-9_-]{20,64}",
  "xox[abeoprs]-[A-Za-z0-9-]{10,256}", // Slack
  "(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])", // AWS
  "AIza[A-Za-z0-9_-]{35}", // Google
  "npm_[A-Za-z0-9]{36}",
  "pypi-[A-Za-z0-9_-]{50,512}",
  "hf_[A-Za-z0-9]{30,64}",
  "eyJ[A-Za-z0-9_-]{10,2048}[.]eyJ[A-Za-z0-9_-]{10,4096}[.][A-Za-z0-9_-]{10,1024}", // JSON web tokens
];
/** A key begins a word, so no character is read as the beginning of many. */
const SHAPES: readonly RegExp[] = [
  new RegExp(`(?<![A-Za-z0-9_-])(?:${KEYS.join("|")})`, "g"),
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{1,8192}-----END [A-Z ]{0,30}PRIVATE KEY-----/g,
];

const stars = (text: string): string => "*".repeat(text.length);

/** @param known secrets that are known, in their own form, in JSON and in base64 */
export function maskOf(known: readonly string[]): (text: string) => string {
  const forms = [...new Set(known.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  return (text) => {
    const plain = forms.reduce((now, form) => now.replaceAll(form, stars(form)), text);
    return SHAPES.reduce((now, shape) => now.replace(shape, stars), plain);
  };
}

function formsOf(secret: string): string[] {
  if (secret === "") return [];
  const base64 = Buffer.from(secret, "utf8").toString("base64").replaceAll("=", "");
  return [secret, JSON.stringify(secret).slice(1, -1), base64];
}
