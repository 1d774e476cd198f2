/** The change of each task: the newest diff that a clean room judged, else that an attempt proposed. */
import { useEffect, useMemo, useState, type ReactElement } from "react";
import { Diff, Hunk, parseDiff, type FileData, type ViewType } from "react-diff-view";
import { getText } from "../api/gateway.ts";
import { Refusal, unreachable } from "../api/refusal.ts";
import { fileUrl, type EvidenceBundle, type RunRecord } from "../api/run-record.ts";
import { harmless } from "../screen/harmless.ts";
import { Notice } from "../screen/notice.tsx";
import { firstChanges } from "./first-changes.ts";
import { useEvidence } from "./use-evidence.ts";

const PATH = "diff.patch";
/** A longer diff is cut; the whole is under Evidence. */
const SHOWN_BYTES = 1024 * 1024;
/** Lines of one file that are shown at once; a longer one is closed at first, and each press shows as many more. */
const SHOWN_CHANGES = 2_000;

export default function ChangeTab({ records }: { readonly records: readonly RunRecord[] }): ReactElement {
  const { bundles, refusal } = useEvidence(records);
  const [split, setSplit] = useState(false);
  if (refusal !== null) return <Notice refusal={refusal} />;
  if (bundles === null) return <p className="quiet">Reading the evidence…</p>;
  const newest = new Map<string, EvidenceBundle>();
  for (const bundle of bundles)
    if (bundle.manifest.files.some(({ path }) => path === PATH)) newest.set(bundle.taskId, bundle);
  if (newest.size === 0) return <p className="quiet">There is no change yet.</p>;
  return (
    <>
      <label className="row">
        <input type="checkbox" checked={split} onChange={(event) => setSplit(event.target.checked)} />
        side by side
      </label>
      {[...newest.values()].map((bundle) => (
        <TaskDiff
          key={`${bundle.taskId} ${bundle.epoch} ${bundle.kind}`}
          runId={records[0]?.runId ?? ""}
          bundle={bundle}
          view={split ? "split" : "unified"}
        />
      ))}
    </>
  );
}

interface TaskDiffProps {
  readonly runId: string;
  readonly bundle: EvidenceBundle;
  readonly view: ViewType;
}

function TaskDiff({ runId, bundle, view }: TaskDiffProps): ReactElement {
  const [diff, setDiff] = useState<{ text: string; cut: boolean } | Refusal | null>(null);
  const url = fileUrl(runId, bundle, PATH);
  useEffect(() => {
    getText(url, SHOWN_BYTES).then(setDiff, (error: unknown) =>
      setDiff(error instanceof Refusal ? error : unreachable(error)),
    );
  }, [url]);
  const files = useMemo(
    () => (diff === null || diff instanceof Refusal ? [] : parseDiff(harmless(diff.text))),
    [diff],
  );
  if (diff instanceof Refusal) return <Notice refusal={diff} />;
  return (
    <section aria-label={`Change of ${bundle.taskId}`}>
      <h2>
        {bundle.taskId}, attempt {bundle.epoch}
      </h2>
      {diff?.cut === true && (
        <p className="notice">The diff is larger than 1 MiB; its first part is shown.</p>
      )}
      {files.map((file) => (
        <FileDiff key={`${file.oldPath} ${file.newPath}`} file={file} view={view} />
      ))}
    </section>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  add: "new",
  delete: "deleted",
  rename: "renamed",
  copy: "copied",
};

function FileDiff({ file, view }: { readonly file: FileData; readonly view: ViewType }): ReactElement {
  const path = file.type === "delete" ? file.oldPath : file.newPath;
  const name = file.type === "rename" || file.type === "copy" ? `${file.oldPath} → ${file.newPath}` : path;
  const changes = file.hunks.reduce((sum, hunk) => sum + hunk.changes.length, 0);
  const [isOpen, setOpen] = useState(changes <= SHOWN_CHANGES);
  const [shown, setShown] = useState(SHOWN_CHANGES);
  return (
    <details className="file" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>{name}</code>{" "}
        {KINDS[file.type] !== undefined && <span className="quiet">{KINDS[file.type]}</span>}
        {file.isBinary === true && <span className="quiet"> binary</span>}
        {file.oldMode !== file.newMode && file.oldMode !== undefined && (
          <span className="quiet">
            {" "}
            mode {file.oldMode} → {file.newMode}
          </span>
        )}
      </summary>
      {isOpen && file.hunks.length > 0 && (
        <Diff viewType={view} diffType={file.type} hunks={firstChanges(file.hunks, shown)}>
          {(hunks) => hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
        </Diff>
      )}
      {changes > shown && (
        <button type="button" onClick={() => setShown(shown + SHOWN_CHANGES)}>
          Show more of {changes - shown} lines
        </button>
      )}
    </details>
  );
}
