import type { ReactElement } from "react";
import { CONNECTOR_NAMES } from "@antiphon/contracts/runs/connectors";
import type { IntentFields } from "./intent.ts";

interface BriefFieldsProps {
  readonly fields: IntentFields;
  readonly set: (change: Partial<IntentFields>) => void;
}

/** What a brief reads. Each field may stay empty. */
export function BriefFields({ fields, set }: BriefFieldsProps): ReactElement {
  return (
    <>
      <label>
        Reads
        <select value={fields.connector} onChange={(event) => set({ connector: event.target.value })}>
          <option value="">everything that the deployment has</option>
          {CONNECTOR_NAMES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Topics, with commas between them. Empty: everything
        <input
          value={fields.topics}
          placeholder="infra, security"
          onChange={(event) => set({ topics: event.target.value })}
        />
      </label>
      <label className="wide">
        Projects, one a line. Empty: those of the deployment
        <textarea
          rows={2}
          value={fields.projects}
          onChange={(event) => set({ projects: event.target.value })}
        />
      </label>
    </>
  );
}
