/** Whether a check failed for lack of a network. Pure. */

/** As Node, glibc, curl, Go, Rust and Java say that a name or an address was not reached. */
const SIGNS =
  /\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH|UnknownHostException)\b|failure in name resolution|Name or service not known|Could not resolve host|Network is unreachable|dial tcp: lookup /i;

const REMEDY =
  "its output tells of a network that was not reached, and the clean room has none: let the setup fetch what the check needs, or leave out " +
  "tests that need a network";

/** What to say beside a failed check; null: its output tells nothing of a network. `said`: the end of its output. */
export const missedNetwork = (said: string): string | null => (SIGNS.test(said) ? REMEDY : null);
