/** The Router's settings beside those of the runtime. */
import { AntiphonError } from "@antiphon/contracts";

export interface RouterConfig {
  /** ANTIPHON_ROUTER_SLOTS: intents routed at the same time. Default 64. */
  readonly slots: number;
}

export function readRouterConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): RouterConfig {
  const text = env["ANTIPHON_ROUTER_SLOTS"] ?? "";
  const slots = text === "" ? 64 : Number(text);
  if (Number.isInteger(slots) && slots >= 1 && slots <= 1000) return { slots };
  throw new AntiphonError(
    "ANT_CONFIG_INVALID",
    `ANTIPHON_ROUTER_SLOTS=${JSON.stringify(text)} is not from 1 to 1000`,
  );
}
