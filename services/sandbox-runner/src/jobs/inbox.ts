/**
 * The inbox of a job: what people tell its commands while these work. A command reads it with the program `antiphon-inbox`,
 * which is on the PATH of commands that may ask, whenever that suits it.
 *
 * Life of a message here: told by the requester -> put into the sandbox, and acknowledged -> read at some look at the inbox.
 * The requester tells it until it is acknowledged, and a number is put in once, so it reaches the container exactly once. A
 * message may name the look that is to get it: so a replay gives each at the place where it was read before.
 */
import { INBOX_PROGRAM, type SandboxEvent, type SandboxMessage } from "@antiphon/contracts";
import type { Heard, Sandbox } from "../ports.ts";

export const INBOX_FILE = INBOX_PROGRAM;
export const INBOX_TEXT = `#!/bin/sh
# antiphon-inbox [--wait]: prints the next message of a person to this attempt, each once; exits with 1 if there is none.
wait=""
case \${1:-} in
  "") ;;
  --wait) wait=1 ;;
  *) echo "usage: antiphon-inbox [--wait]" >&2; exit 64 ;;
esac
tries=0
reading=/tmp/.antiphon-reading
breaking=/tmp/.antiphon-breaking
until ln -sn $$ "$reading" 2>/dev/null; do
  reader=$(readlink "$reading")
  # Its reader was killed. Who breaks the lock is alone, so nobody breaks that of the next reader.
  if [ -n "$reader" ] && ! kill -0 "$reader" 2>/dev/null && mkdir "$breaking" 2>/dev/null; then
    [ "$(readlink "$reading")" != "$reader" ] || rm -f "$reading"
    rmdir "$breaking"
    continue
  fi
  tries=$((tries + 1))
  [ -n "$wait" ] || [ "$tries" -lt 30 ] || exit 1
  sleep 0.1 2>/dev/null || sleep 1
done
trap 'rm -f /tmp/.antiphon-reading' EXIT
trap 'exit 130' HUP INT TERM
look=0
next=1
[ -f /tmp/.antiphon-looks ] && read -r look next < /tmp/.antiphon-looks
look=$((look + 1))
while :; do
  printf '%s %s\\n' "$look" "$next" > /tmp/.antiphon-looks
  file=/tmp/.antiphon-message.$next
  if [ -f "$file" ]; then
    {
      read -r due
      if [ "$due" -le "$look" ]; then
        printf '%s %s\\n' "$look" $((next + 1)) > /tmp/.antiphon-looks
        printf '%s\\n' "$look" > /tmp/.antiphon-heard.draft
        mv -f /tmp/.antiphon-heard.draft "/tmp/.antiphon-heard.$next"
        cat
        exit 0
      fi
    } < "$file"
  fi
  [ -n "$wait" ] || exit 1
  sleep 0.2 2>/dev/null || sleep 1
done
`;

export interface InboxParts {
  readonly sandbox: Pick<Sandbox, "tell">;
  readonly emit: (event: SandboxEvent) => void;
  /** There from the beginning. */
  readonly first: readonly SandboxMessage[];
}

export class Inbox {
  readonly heard: Heard[] = [];
  readonly #parts: InboxParts;
  readonly #given = new Set<number>();
  #isOpen = false;

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  /** A command that can read it starts. */
  open(): void {
    this.#isOpen = true;
    for (const message of this.#parts.first) this.#put(message);
  }

  /** That command has ended, so nobody would read a message. */
  close(): void {
    this.#isOpen = false;
  }

  /** A message that comes too early or too late is not acknowledged. */
  tell(message: SandboxMessage): void {
    if (this.#isOpen && this.#put(message)) this.#parts.emit({ kind: "told", number: message.number });
  }

  /** The word of the program inside: a number that was never given, or comes again, says nothing. */
  read(heard: Heard): void {
    const isNew = this.#given.has(heard.number) && !this.heard.some(({ number }) => number === heard.number);
    if (isNew) this.heard.push(heard);
  }

  #put(message: SandboxMessage): boolean {
    if (this.#given.has(message.number)) return true;
    if (this.#parts.sandbox.tell?.(message) !== true) return false;
    this.#given.add(message.number);
    return true;
  }
}
