/**
 * The inbox of a job: what people tell its commands while these work. A command reads it with the program `antiphon-inbox`,
 * which is on the PATH of commands that may ask, whenever that suits it.
 *
 * Life of a message here: told by the requester -> given to the supervisor -> written whole, and acknowledged -> read at some
 * look at the inbox. The requester tells it until it is acknowledged, and a number is read once, however often it is given. A
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
  /** Those that the supervisor has said to be there. */
  readonly #arrived = new Set<number>();
  readonly #told = new Set<number>();
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

  /** A message is acknowledged when it is there; one that comes too early or too late is not. */
  tell(message: SandboxMessage): void {
    if (!this.#isOpen) return;
    this.#told.add(message.number);
    this.#put(message);
    this.#acknowledge(message.number);
  }

  /** The word of the supervisor: look 0 says that a message is there. One that was never given, or comes again, says nothing. */
  read(heard: Heard): boolean {
    const { number, look } = heard;
    if (!this.#given.has(number)) return false;
    if (look === 0) {
      this.#arrived.add(number);
      this.#acknowledge(number);
      return false;
    }
    if (this.heard.some((one) => one.number === number)) return false;
    this.heard.push(heard);
    return true;
  }

  #acknowledge(number: number): void {
    if (this.#isOpen && this.#told.has(number) && this.#arrived.has(number))
      this.#parts.emit({ kind: "told", number });
  }

  #put(message: SandboxMessage): void {
    const { number } = message;
    if (!this.#arrived.has(number) && this.#parts.sandbox.tell?.(message) === true) this.#given.add(number);
  }
}
