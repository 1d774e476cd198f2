/** The command line of a tool that measures or tortures: `--help`, and one clear answer to what it does not take. */
import { parseArgs, type ParseArgsConfig } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Values<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T; allowPositionals: false }>
>["values"];

export class CommandLine {
  readonly #usage: string;

  /** `usage`: what `--help` prints, with examples. */
  constructor(usage: string) {
    this.#usage = usage.trim();
  }

  /** The options' values. `--help` ends the process with 0, what is not an option of this tool with 2. */
  read<const T extends Options>(options: T, args = process.argv.slice(2)): Values<T> {
    if (args.includes("--help") || args.includes("-h")) {
      process.stdout.write(`${this.#usage}\n`);
      process.exit(0);
    }
    try {
      return parseArgs({ args: [...args], options, allowPositionals: false }).values;
    } catch (error) {
      return this.refuse(error instanceof Error ? error.message : String(error));
    }
  }

  /** @param most Inclusive, as `least` (default 1). */
  whole(name: string, text: string, most = Number.MAX_SAFE_INTEGER, least = 1): number {
    const value = Number(text);
    if (text.trim() !== "" && Number.isInteger(value) && value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} up` : `${least} to ${most}`;
    return this.refuse(`--${name} takes a whole number from ${range}, not ${JSON.stringify(text)}`);
  }

  /** Above zero; fractions are fine. */
  positive(name: string, text: string, most = Number.MAX_VALUE): number {
    const value = Number(text);
    if (value > 0 && value <= most) return value;
    const range = most === Number.MAX_VALUE ? "above 0" : `above 0, up to ${most}`;
    return this.refuse(`--${name} takes a number ${range}, not ${JSON.stringify(text)}`);
  }

  /** What stands between commas; all of `allowed` when nothing does. */
  someOf<T extends string>(name: string, text: string, allowed: readonly T[]): readonly T[] {
    if (text === "") return allowed;
    return text.split(",").map((one) => this.oneOf(name, one, allowed));
  }

  oneOf<T extends string>(name: string, text: string, allowed: readonly T[]): T {
    const found = allowed.find((one) => one === text);
    return found ?? this.refuse(`--${name} takes one of ${allowed.join(", ")}, not ${JSON.stringify(text)}`);
  }

  /** Nothing has been done yet: says why and ends the process with 2. */
  refuse(why: string): never {
    process.stderr.write(`${why}\n--help shows what there is.\n`);
    process.exit(2);
  }
}
