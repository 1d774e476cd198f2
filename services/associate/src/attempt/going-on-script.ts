/**
 * The shell script around a program that may end by asking. When it has, the script waits in its place: it runs antiphon-ask with
 * the question that the program left, then starts the program again in the same container, with the answer. So the container is
 * held, and let go, as for a program that waits by itself. Pure.
 *
 * The program ends the script with its own exit code, and leaves the question where the attempt looks for it:
 *   - if nothing can carry a question out of this container, or it is too long;
 *   - if it asks what it asked last, because then it has not understood the answer;
 *   - if the answer says that the question cannot be read.
 */
import type { PackAsks } from "@antiphon/contracts";
import { LEFT_ASKS_EXIT, LEFT_FILE, QUESTION_FILE, type LeftAs } from "../evidence/question.ts";
import type { GoesOn } from "../ports.ts";
import { bytesOf } from "./byte-length.ts";

/** The first line of a question that a program left when it ended. How the rest is read follows it. */
const MARK = "antiphon-ended:";
const WAYS: readonly LeftAs[] = ["text", "json", "either"];

/** Bytes of a question that is passed on; what is printed is the end of the output. */
const MOST_BYTES = 3900;
const MOST_PRINTED = 2048;
/** Of one container. Each is the answer of a person, except those that were answered before. */
const MOST_QUESTIONS = 16;

const SCRIPT = `
again=$1 told_by=$2 own_code=$3 own_file=$4
shift 4
place=/tmp/.antiphon-going-on
asked= count=0
run() { "$@"; code=$?; }
run_printing() {
  rm -f "$place.out" "$place.end" "$place.said"
  mkfifo "$place.out" "$place.end" 2>/dev/null || { run "$@"; return; }
  tail -c ${MOST_PRINTED} <"$place.end" >"$place.said" & keeper=$!
  tee "$place.end" <"$place.out" & printer=$!
  "$@" >"$place.out"; code=$?
  left=20
  while kill -0 "$printer" 2>/dev/null && [ "$left" -gt 0 ]; do sleep 0.1 2>/dev/null || sleep 1; left=$((left - 1)); done
  kill "$printer" 2>/dev/null
  wait "$printer" "$keeper" 2>/dev/null
}
is_left() { [ -f "$1" ] && [ ! -L "$1" ] && [ -s "$1" ]; }
find_question() {
  if [ "$code" = "$own_code" ] && [ -n "$own_file" ] && is_left "$own_file"; then found=$own_file way=either
  elif [ "$code" = "$own_code" ] && [ -z "$own_file" ] && is_left "$place.said"; then found=$place.said way=text
  elif [ "$code" = ${LEFT_ASKS_EXIT} ] && is_left ${LEFT_FILE}; then found=${LEFT_FILE} way=json
  elif [ "$code" = 0 ] && is_left ${QUESTION_FILE}; then found=${QUESTION_FILE} way=text
  else return 1
  fi
  [ "$(wc -c <"$found")" -le ${MOST_BYTES} ] && question=$(cat "$found")
}
while :; do
  if [ -n "$own_code" ] && [ -z "$own_file" ]; then run_printing "$@"; else run "$@"; fi
  find_question || exit "$code"
  [ "$question" != "$asked" ] && [ "$count" -lt ${MOST_QUESTIONS} ] || exit "$code"
  command -v antiphon-ask >/dev/null || exit "$code"
  asked=$question count=$((count + 1))
  antiphon-ask "${MARK}$way
$question" >"$place.answer" || exit "$code"
  { IFS= read -r epoch && IFS= read -r ANTIPHON_TASK && cat >"$place.prompt"; } <"$place.answer" || exit "$code"
  rm -f "$found" "$place.answer"
  ANTIPHON_EPOCH=$epoch
  export ANTIPHON_EPOCH ANTIPHON_TASK
  eval "set -- $again"
  if [ "$told_by" = argument ]; then set -- "$@" "$(cat "$place.prompt")"; exec </dev/null; else exec <"$place.prompt"; fi
done
`;

/** The words of one request, and a bound of Linux on one of them. */
const MOST_WORDS = 240;
const MOST_WORD_BYTES = 64 * 1024;

/** The command with the script around it; unchanged if it would be too long. */
export function waiting(
  argv: readonly string[],
  { argv: again, toldBy }: Pick<GoesOn, "argv" | "toldBy">,
  asks?: PackAsks,
): readonly string[] {
  const quoted = again.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  if (argv.length > MOST_WORDS || bytesOf(quoted) > MOST_WORD_BYTES) return argv;
  return ["sh", "-c", SCRIPT, "sh", quoted, toldBy, String(asks?.exit_code ?? ""), asks?.file ?? "", ...argv];
}

/** The question that a program left when it ended; null: its program is still waiting for the answer. */
export function leftIn(question: string): { readonly way: LeftAs; readonly text: string } | null {
  const way = WAYS.find((one) => question.startsWith(`${MARK}${one}\n`));
  return way === undefined ? null : { way, text: question.slice(MARK.length + way.length + 1) };
}

/** What the script reads: three parts, of which the first two are a line each. */
export function answerFor(epoch: number, brief: string, prompt: string): string {
  return `${epoch}\n${brief}\n${prompt}`;
}

/** The question cannot be read, so the program ends as it would have. */
export const NO_ANSWER = "";
