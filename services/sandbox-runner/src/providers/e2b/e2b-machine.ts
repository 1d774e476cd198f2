/**
 * What a machine of an E2B service must be, compared with what the service says it made.
 *
 * Invariants:
 *   V5  A machine that is not confirmed to be without internet, or has anything nobody asked for, never gets a command:
 *       a field that is missing from the answer is not a confirmation.
 */

/** The parts of the service's answer that matter here; names as in its SDK. */
export interface MachineFacts {
  readonly templateId: string;
  readonly allowInternetAccess?: boolean | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly network?:
    | {
        readonly allowOut?: readonly string[] | undefined;
        readonly rules?: object | undefined;
        readonly egressProxy?: object | undefined;
      }
    | undefined;
  readonly lifecycle?: { readonly onTimeout: string; readonly autoResume: boolean } | undefined;
  readonly volumeMounts?: readonly object[] | undefined;
}

export interface MachineOrder {
  /** Of the first machine made of the template; null before that. */
  readonly templateId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What differs, in words; empty: it is the machine that was asked for. */
export function machineDifferences(order: MachineOrder, facts: MachineFacts): string[] {
  const found: string[] = [];
  if (facts.allowInternetAccess !== false)
    found.push(`allowInternetAccess is ${String(facts.allowInternetAccess)}, not false`);
  const { allowOut = [], rules = {}, egressProxy } = facts.network ?? {};
  if (allowOut.length > 0) found.push(`the network allows ${allowOut.join(", ")}`);
  if (Object.keys(rules).length > 0) found.push("the network has rules");
  if (egressProxy !== undefined) found.push("the network has a proxy");
  if ((facts.volumeMounts ?? []).length > 0) found.push("volumes are mounted");
  if (facts.lifecycle !== undefined && facts.lifecycle.onTimeout !== "kill")
    found.push(`at its time it would ${facts.lifecycle.onTimeout}, not end`);
  if (facts.lifecycle?.autoResume === true) found.push("it would come back by itself");
  if (order.templateId !== null && order.templateId !== facts.templateId)
    found.push(`its template is ${facts.templateId}, not ${order.templateId}`);
  for (const [name, value] of Object.entries(order.metadata))
    if (facts.metadata[name] !== value) found.push(`metadata ${name} is not what was given`);
  return found;
}
