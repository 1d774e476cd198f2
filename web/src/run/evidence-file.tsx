import { useState, type ReactElement } from "react";
import { getText } from "../api/gateway.ts";
import { Refusal, unreachable } from "../api/refusal.ts";
import { fileUrl, type EvidenceBundle } from "../api/run-record.ts";
import { harmless } from "../screen/harmless.ts";
import { Notice } from "../screen/notice.tsx";

/** Bytes of a file that are shown; the rest is downloaded. */
const SHOWN_BYTES = 256 * 1024;

interface EvidenceFileProps {
  readonly runId: string;
  readonly bundle: EvidenceBundle;
  readonly path: string;
  readonly title?: string;
}

/** A file of the evidence that is read when it is opened. */
export function EvidenceFile({ runId, bundle, path, title = path }: EvidenceFileProps): ReactElement {
  const [content, setContent] = useState<{ text: string; cut: boolean } | Refusal | null>(null);
  const url = fileUrl(runId, bundle, path);
  const open = async (): Promise<void> => {
    if (content !== null && !(content instanceof Refusal)) return;
    setContent(
      await getText(url, SHOWN_BYTES).catch((error: unknown) =>
        error instanceof Refusal ? error : unreachable(error),
      ),
    );
  };
  return (
    <details onToggle={({ currentTarget }) => currentTarget.open && void open()}>
      <summary>{harmless(title)}</summary>
      {content instanceof Refusal && <Notice refusal={content} />}
      {content !== null && !(content instanceof Refusal) && (
        <>
          <pre className="log" tabIndex={0}>
            {harmless(content.text) || "(empty)"}
          </pre>
          {content.cut && <p className="quiet">The first {SHOWN_BYTES / 1024} KiB of it.</p>}
        </>
      )}
    </details>
  );
}
