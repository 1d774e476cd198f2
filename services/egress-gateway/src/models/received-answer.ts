/** The part of a model's answer that has arrived, the charge for it, and the reason if the call failed. Pure. */
import { plus, type Charge, type Reserved } from "./ledger.ts";
import type { ModelCall } from "./model-call.ts";
import type { StatedUsage } from "./model-usage.ts";
import { chargeOf } from "./pricing.ts";

export interface ReceivedAnswer {
  /** True once the provider may have carried out the call. */
  hasLeft: boolean;
  status: number;
  headers: Readonly<Record<string, unknown>>;
  text: string;
  truncated: boolean;
  isWhole: boolean;
  /** True: it says that the call failed, and nothing else. */
  isOnlyFailure: boolean;
  /** Why the answer is of no use, after the name of the host; null: it is of use, or there is none. */
  trouble: string | null;
  /** Null: the answer stated none. */
  usage: StatedUsage | null;
}

export const nothingYet = (): ReceivedAnswer => ({
  hasLeft: false,
  status: 0,
  headers: {},
  text: "",
  truncated: false,
  isWhole: false,
  isOnlyFailure: false,
  trouble: null,
  usage: null,
});

const NOTHING: Charge = { tokens: 0, usd_micro: 0 };
const NO_USAGE = { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_short: 0 };

export function chargedFor(
  call: Pick<ModelCall, "price">,
  reserved: Reserved,
  received: ReceivedAnswer,
): Charge {
  const { hasLeft, status, usage, isOnlyFailure } = received;
  if (!hasLeft) return NOTHING;
  if (usage !== null) {
    const stated = chargeOf({ ...usage, output: usage.output ?? 0 }, call.price);
    if (usage.output !== null || isOnlyFailure) return stated;
    // It broke off: the input is known, and the answer may have gone on to its bound.
    const longest = chargeOf({ ...NO_USAGE, output: reserved.answer }, call.price);
    return plus(stated, longest);
  }
  return status >= 400 || isOnlyFailure ? NOTHING : reserved.most;
}

const TROUBLE_CHARS = 200;

/** The failure in words, for the log and for the reason of an attempt that ends with this call. */
export function failedFrom(
  host: string,
  { status, trouble }: ReceivedAnswer,
  failure: { readonly error: unknown } | null,
): { readonly failed?: string } {
  const cut = failure === null ? null : failure.error instanceof Error ? failure.error.message : "broke off";
  const said = status >= 400 ? `answered ${status}${trouble === null ? "" : `: ${trouble}`}` : trouble;
  const what = said === null ? cut : `${host} ${said}`;
  return what === null ? {} : { failed: what.replaceAll("\n", " ").slice(0, TROUBLE_CHARS) };
}
