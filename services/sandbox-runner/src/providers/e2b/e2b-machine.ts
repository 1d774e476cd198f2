/**
 * Compares a machine of an E2B service with the one that was asked for. A machine never gets a command unless the
 * service confirms that it has no internet access and nothing that was not requested. A field that is missing from the
 * answer confirms nothing.
 */

/** The compared parts of the service's answer, with the names of its SDK. */
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
  /** The template id of the first machine; null before that. */
  readonly templateId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The differences in words; empty when the machine is as requested. */
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
    found.push(`at its timeout it would ${facts.lifecycle.onTimeout}, not end`);
  if (facts.lifecycle?.autoResume === true) found.push("it would resume by itself");
  if (order.templateId !== null && order.templateId !== facts.templateId)
    found.push(`its template is ${facts.templateId}, not ${order.templateId}`);
  for (const [name, value] of Object.entries(order.metadata))
    if (facts.metadata[name] !== value) found.push(`metadata ${name} differs from the requested value`);
  return found;
}
