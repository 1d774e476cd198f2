/**
 * The command of a service's container, and how its readiness is heard. Pure.
 *
 * A supervisor runs one command at a time, so one shell starts the service, asks until it is ready, says so on its output
 * and waits for its end. A port is looked for in the kernel's list of listening sockets, so an image needs no client.
 */
import type { ServiceSpec } from "@antiphon/contracts";
import type { ImageFacts } from "../ports.ts";

const SCRIPT = `exec 2>&1 </dev/null
ready=$1 port=$2 word=$3; shift 3
is_ready() {
  [ -z "$port" ] || cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ":$port [0-9A-F]*:0000 0A " || return 1
  [ -z "$ready" ] || sh -c "$ready" >/dev/null 2>&1
}
"$@" & service=$!
until is_ready; do
  kill -0 "$service" 2>/dev/null || { wait "$service"; status=$?; [ "$status" -ne 0 ] || status=1; exit "$status"; }
  sleep 0.05
done
printf '\\n%s\\n' "$word"
wait "$service"`;

/** `word`: what the shell says when the service is ready; nobody else knows it. Null: there is nothing to start. */
export function serviceArgv(
  { command, port, ready }: ServiceSpec,
  { start = [] }: Pick<ImageFacts, "start">,
  word: string,
): readonly string[] | null {
  const own = command === undefined ? start : ["sh", "-c", command];
  if (own.length === 0) return null;
  return ["sh", "-c", SCRIPT, "sh", ready ?? "", port === undefined ? "" : portInHex(port), word, ...own];
}

/** As the kernel writes it. */
const portInHex = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");

/** Finds a word in output that comes in pieces. */
export class WordListener {
  readonly #word: string;
  #tail = "";
  #heard = false;

  constructor(word: string) {
    this.#word = word;
  }

  /** True from the piece on that completes the word. */
  heard(piece: Buffer): boolean {
    if (this.#heard) return true;
    const text = this.#tail + piece.toString("latin1");
    this.#heard = text.includes(this.#word);
    this.#tail = text.slice(-this.#word.length);
    return this.#heard;
  }
}
