/**
 * Well-known hosts of model providers. A run with a model budget reaches the hosts that the egress gateway has prices for, and
 * pays for each call. If such a host were on the run's allowlist too, a gateway without its price would let calls through
 * unpaid. A run with both is therefore refused. Pure.
 */
const MODEL_HOSTS = [
  "api.openai.com",
  "api.anthropic.com",
  "generativelanguage.googleapis.com",
  "openrouter.ai",
  "api.mistral.ai",
  "api.deepseek.com",
  "api.groq.com",
  "api.together.xyz",
  "api.x.ai",
  "api.cohere.com",
  "api.fireworks.ai",
];

/** The model host that an entry of an allowlist (`host`, `*.host`, either with `:port`) lets through; null: none. */
export function modelHostIn(entry: string): string | null {
  const pattern = entry.toLowerCase().replace(/:\d{1,5}$/, "");
  const covers = (host: string): boolean =>
    pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) : pattern === host;
  return MODEL_HOSTS.find(covers) ?? null;
}

/** Providers with prices and a way to sign in that ship with the egress gateway: the variables that may hold their key. */
export const PROVIDER_KEYS = {
  "api.anthropic.com": ["ANTHROPIC_API_KEY"],
  "api.openai.com": ["OPENAI_API_KEY"],
  "generativelanguage.googleapis.com": ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
} as const;
