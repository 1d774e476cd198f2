/** The part of a failed command's output that says why it failed. Pure. */
import { stripVTControlCharacters } from "node:util";

const FIRST_CHARS = 400;
const LAST_CHARS = 300;

/** How programs begin the line of an error: `npm error`, `[ERROR]`, `error[E0432]:`, `E: Unable to ...`. */
const ERROR_LINE = /^[^\w\r\n]{0,40}(?:npm )?(?:error|err!|fatal|e:)(?=\W)/im;

/** A last line such as `install [--prefer-source] [--dry-run] [--] [<packages>...]`. */
const USAGE = /\n\s*[\w:-]{1,40} \[-[^\r\n]*\s*$/;

/**
 * Some programs write their errors to standard output, and warnings to the other. A program like Maven or pip says first what is wrong
 * and then at length where to read about it, so the first error counts most.
 */
export function wordsOfFailure(stdout: string, stderr: string): string {
  const said = [stdout, stderr].map(plain).filter((text) => text !== "");
  const errors = said.flatMap((text) => {
    const at = text.search(ERROR_LINE);
    return at < 0 ? [] : [shortenedError(text.slice(at).trim())];
  });
  return (errors.length > 0 ? errors : said.map(ending)).join("; ");
}

/** The last lines that fit, whole if there is one. Composer ends with its usage, which says nothing of what is wrong. */
function ending(text: string): string {
  const said = text.replace(USAGE, "").trim();
  if (said.length <= FIRST_CHARS) return said;
  const last = said.slice(-FIRST_CHARS);
  return (/(?<=\n)\s*\S.*$/s.exec(last)?.[0] ?? last).trim().toWellFormed();
}

/** The line with which a traceback ends. It stays where what pip tells of a `setup.py` has to be shortened around it. */
const EXCEPTION = /^[^\w\r\n]{0,40}\w{0,60}(?:Error|Exception): [^\r\n]{1,200}/m;

function shortenedError(text: string): string {
  const short = shortened(text);
  const [line] = EXCEPTION.exec(text) ?? [];
  if (line === undefined || short.includes(line)) return short;
  return `${text.slice(0, FIRST_CHARS)} ... ${line.trim()} ... ${text.slice(-LAST_CHARS)}`.toWellFormed();
}

/** Without colours, and without what a JVM says of the proxy's settings. */
function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/^Picked up JAVA_TOOL_OPTIONS:.*$/gm, "")
    .trim();
}

/** A message has room for so much of a command or of an error. The log of the setup has all of it. */
export function shortened(text: string): string {
  if (text.length <= FIRST_CHARS + LAST_CHARS) return text;
  return `${text.slice(0, FIRST_CHARS)} ... ${text.slice(-LAST_CHARS)}`.toWellFormed();
}
