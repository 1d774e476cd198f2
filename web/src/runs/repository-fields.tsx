import type { ReactElement } from "react";
import type { IntentFields } from "./intent.ts";

interface RepositoryFieldsProps {
  readonly fields: IntentFields;
  readonly set: (change: Partial<IntentFields>) => void;
}

/** How a change of a repository is checked, and where it goes. */
export function RepositoryFields({ fields, set }: RepositoryFieldsProps): ReactElement {
  return (
    <>
      <label className="wide">
        Checks, one a line. Empty: the repository's own
        <textarea rows={2} value={fields.checks} onChange={(event) => set({ checks: event.target.value })} />
      </label>
      <label>
        Also move this branch
        <input
          value={fields.landOn}
          placeholder="main"
          onChange={(event) => set({ landOn: event.target.value })}
        />
      </label>
      <label>
        Approvals before it lands
        <input
          type="number"
          min={0}
          max={16}
          value={fields.approvals}
          onChange={(event) => set({ approvals: Number(event.target.value) })}
        />
      </label>
    </>
  );
}
