/**
 * The line to a supervisor in a machine that first has to be made a sandbox (supervisor/guest.ts). Output of the
 * machine's own shell is kept out of the conversation; the first line of the sandbox says which limits are enforced.
 */
import type { Enforced } from "../ports.ts";
import type { LineListener, SupervisorLine } from "./supervisor-line.ts";

/** A login shell's greeting fits many times. */
const MOST_BEFORE_BYTES = 256 * 1024;
const TOLD_BYTES = 300;

export interface GuestLine {
  readonly line: SupervisorLine;
  /** The limits that the machine's kernel enforces. Rejects with the reason when the sandbox could not be made. */
  readonly enforced: Promise<Enforced>;
}

export function guestLine(inner: SupervisorLine, token: string): GuestLine {
  let before: Buffer | null = Buffer.alloc(0);
  let made: (enforced: Enforced) => void = () => undefined;
  let failed: (error: Error) => void = () => undefined;
  const enforced = new Promise<Enforced>((resolve, reject) => {
    made = resolve;
    failed = reject;
  });
  enforced.catch(() => undefined); // a waiting caller still gets the reason, and the end of the line reports it too

  const listen = (listener: LineListener): void => {
    const fault = (why: string): void => {
      failed(new Error(why));
      listener.fault(why);
    };
    const stdout = (bytes: Buffer): void => {
      if (before === null) return listener.stdout(bytes);
      before = Buffer.concat([before, bytes]);
      const at = before.indexOf(`${token} `);
      const end = at < 0 ? -1 : before.indexOf("\n", at);
      if (end < 0 && before.length > MOST_BEFORE_BYTES)
        return fault("it sent output, but none of it from the sandbox launcher");
      if (end < 0) return;
      const said = before.toString("utf8", at + token.length + 1, end);
      const rest = before.subarray(end + 1);
      before = null;
      const words = /^memory=([01]) processes=([01])$/.exec(said);
      if (words === null) return fault(said.replace(/^failed: /, "").slice(0, TOLD_BYTES));
      made({ memory: words[1] === "1", processes: words[2] === "1" });
      if (rest.length > 0) listener.stdout(rest);
    };
    const closed = (): void => {
      if (before !== null) failed(new Error(`it ended with: ${before.toString("utf8").slice(-TOLD_BYTES)}`));
      listener.closed();
    };
    inner.listen({ ...listener, stdout, closed, fault });
  };
  return { line: delegated(inner, listen), enforced };
}

function delegated(inner: SupervisorLine, listen: SupervisorLine["listen"]): SupervisorLine {
  return {
    id: inner.id,
    gone: inner.gone,
    listen,
    write: (bytes) => inner.write(bytes),
    pause: () => inner.pause(),
    resume: () => inner.resume(),
    kill: () => inner.kill(),
    remove: () => inner.remove(),
    rename: (name) => inner.rename(name),
    hangUp: () => inner.hangUp(),
  };
}
