/** A field for each attempt under way that reads messages: what a person tells it is a record of the run, as with `antiphon attach`. */
import { useState, type ReactElement } from "react";
import { post } from "../api/gateway.ts";
import type { RunRecord } from "../api/run-record.ts";
import { Action } from "../screen/action.tsx";
import { harmless } from "../screen/harmless.ts";
import { listenersOf, type Listener } from "./listeners.ts";

interface TellProps {
  readonly runId: string;
  readonly records: readonly RunRecord[];
}

export function Tell({ runId, records }: TellProps): ReactElement {
  return (
    <>
      {listenersOf(records).map((listener) => (
        <Message key={`${listener.taskId} ${listener.epoch}`} runId={runId} listener={listener} />
      ))}
    </>
  );
}

/** What is typed, and the key that makes a second press the same message. */
const unsaid = (text: string) => ({ text, key: crypto.randomUUID() });

function Message({ runId, listener }: { runId: string; listener: Listener }): ReactElement {
  const { taskId, epoch, told } = listener;
  const [draft, setDraft] = useState(() => unsaid(""));
  const tell = async (): Promise<void> => {
    const { text, key } = draft;
    await post(
      "/runs/{id}/events",
      { id: runId },
      { event: "message", task: taskId, text: text.trim(), key },
    );
    setDraft(unsaid(""));
  };
  return (
    <section className="card" aria-label={`Messages to ${taskId}`}>
      <h2>
        Attempt {epoch} of {taskId} reads messages
      </h2>
      {told.length > 0 && (
        <ul aria-label="Told so far">
          {told.map(({ n, by, text }) => (
            <li key={n}>
              {harmless(by)}: {harmless(text)}
            </li>
          ))}
        </ul>
      )}
      <label className="wide">
        Message to the agent. Who tells it something cannot approve its change.
        <textarea
          rows={2}
          maxLength={4000}
          value={draft.text}
          onChange={(event) => setDraft(unsaid(event.target.value))}
        />
      </label>
      <Action kind="primary" perform={tell} disabled={draft.text.trim() === ""}>
        Tell it
      </Action>
    </section>
  );
}
