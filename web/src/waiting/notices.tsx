/**
 * Tells a person who looks elsewhere that a run waits: by the number in the title, the badge of an installed page, and, if they
 * ask for it, a notification of their system, which leads to the run.
 */
import { useEffect, useRef, useState, type ReactElement } from "react";
import type { RunLine } from "../api/run-record.ts";
import { Action } from "../screen/action.tsx";
import { harmless } from "../screen/harmless.ts";
import { titleOf, untold, waitingIn } from "./waiting-runs.ts";

const GOAL_CHARS = 200;

/** A browser has notifications only over HTTPS and on loopback. */
const canNotify = (): boolean => "Notification" in window && window.isSecureContext;

export function Notices({ runs }: { readonly runs: readonly RunLine[] }): ReactElement | null {
  const told = useRef<ReadonlySet<string> | null>(null);
  const [permission, setPermission] = useState(canNotify() ? Notification.permission : "denied");
  useEffect(() => {
    const waiting = waitingIn(runs);
    document.title = titleOf(waiting.length);
    showBadge(waiting.length);
    if (permission === "granted") untold(told.current, waiting).forEach(notify);
    told.current = new Set(waiting.map(({ runId }) => runId));
  }, [runs, permission]);
  if (permission !== "default") return null;
  return (
    <Action perform={async () => setPermission(await Notification.requestPermission())}>
      Notify me when a run waits
    </Action>
  );
}

/** Only an installed page has a badge; elsewhere the browser refuses it, and the title tells the same. */
function showBadge(waiting: number): void {
  if (!("setAppBadge" in navigator)) return;
  const shown = waiting === 0 ? navigator.clearAppBadge() : navigator.setAppBadge(waiting);
  shown.catch(() => undefined);
}

function notify({ runId, goal }: RunLine): void {
  const body = harmless(goal).slice(0, GOAL_CHARS);
  const notice = new Notification("A run waits for you", { body, tag: runId });
  notice.onclick = () => {
    window.focus();
    window.location.hash = `#/runs/${runId}`;
    notice.close();
  };
}
