import type { ReactElement } from "react";
import type { Refusal } from "../api/refusal.ts";

/** A refusal as the gateway words it: what happened, what to do, and the code to look up. */
export function Notice({ refusal }: { readonly refusal: Refusal }): ReactElement {
  return (
    <div className="notice" role="alert">
      <strong>{refusal.message}</strong>
      {refusal.remedy !== "" && <span>{refusal.remedy}</span>}
      <code>{refusal.code}</code>
    </div>
  );
}
