import { useState, type ReactElement, type ReactNode } from "react";
import { Refusal, unreachable } from "../api/refusal.ts";
import { Notice } from "./notice.tsx";

interface ActionProps {
  readonly children: ReactNode;
  readonly perform: () => Promise<unknown>;
  readonly kind?: "primary" | "danger";
  readonly disabled?: boolean;
}

/** A button whose work is under way once at most, and whose refusal is shown beside it. */
export function Action({ children, perform, kind, disabled = false }: ActionProps): ReactElement {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const press = async (): Promise<void> => {
    setBusy(true);
    setRefusal(null);
    try {
      await perform();
    } catch (error) {
      setRefusal(error instanceof Refusal ? error : unreachable(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <span className="action">
      <button type="button" className={kind} disabled={busy || disabled} onClick={() => void press()}>
        {children}
      </button>
      {refusal !== null && <Notice refusal={refusal} />}
    </span>
  );
}
