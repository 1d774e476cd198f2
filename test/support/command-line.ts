/** The command line of a measuring or chaos tool: `--help`, and a clear error for an unknown argument. */
import { parseArgs, type ParseArgsConfig } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Values<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T; allowPositionals: false }>
>["values"];

export class CommandLine {
  readonly #usage: string;

  /** `usage`: the text of `--help`, with examples. */
  constructor(usage: string) {
    this.#usage = usage.trim();
  }

  /** The options' values. `--help` ends the process with 0, an unknown option with 2. */
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

  /** Greater than zero; may be a fraction. */
  positive(name: string, text: string, most = Number.MAX_VALUE): number {
    const value = Number(text);
    if (value > 0 && value <= most) return value;
    const range = most === Number.MAX_VALUE ? "above 0" : `above 0, up to ${most}`;
    return this.refuse(`--${name} takes a number ${range}, not ${JSON.stringify(text)}`);
  }

  /** The values of a comma-separated list; all of `allowed` if it is empty. */
  someOf<T extends string>(name: string, text: string, allowed: readonly T[]): readonly T[] {
    if (text === "") return allowed;
    return text.split(",").map((one) => this.oneOf(name, one, allowed));
  }

  oneOf<T extends string>(name: string, text: string, allowed: readonly T[]): T {
    const found = allowed.find((one) => one === text);
    return found ?? this.refuse(`--${name} takes one of ${allowed.join(", ")}, not ${JSON.stringify(text)}`);
  }

  /** Prints the reason and ends the process with 2, before it has done anything. */
  refuse(why: string): never {
    process.stderr.write(`${why}\nSee --help for the options.\n`);
    process.exit(2);
  }
}
