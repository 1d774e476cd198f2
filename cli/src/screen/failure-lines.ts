// The lines of a failure: code and message, then the remedy. Further lines of a message, such as the output of git, stand
// behind a bar, so that no text from outside can pass for a remedy or another error. Pure.
import type { Failure } from "../failure.ts";
import { colours } from "./colours.ts";
import { linesOf } from "@antiphon/contracts/shapes/visible-text";

/** Before each line that is quoted from outside. */
export const BAR = "  │ ";

export function failureLines({
  code,
  message,
  remedy,
}: Pick<Failure, "code" | "message" | "remedy">): string[] {
  return [
    ...withBar(`${colours.red("error")} ${code}: `, message),
    ...(remedy === "" ? [] : withBar("remedy: ", remedy)),
  ];
}

/** `head` and the first line of the text, and its further lines behind a bar. */
export function withBar(head: string, text: string): string[] {
  const [first = "", ...further] = linesOf(text.trimEnd());
  return [`${head}${first}`, ...further.map((line) => `${BAR}${line}`)];
}
