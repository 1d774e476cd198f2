/**
 * Measures how the time of a parser grows with its input. A parser of strangers' bytes runs on the only thread of its
 * service, so one input that takes more than linear time stops every run of that service.
 *
 * Each shape is tried at sizes that grow by four. A linear parser takes four times as long at each step, a quadratic one
 * sixteen times. Processor time is measured instead of clock time, and a suspicious step is measured again, because load
 * on the machine makes single measurements long, but not all of them.
 */
import { sized } from "../support/night.ts";

export interface Shape {
  readonly name: string;
  /** True if the shape nests. Its largest size is then tried too, to find a stack overflow. */
  readonly isDeep?: boolean;
  /** An input of about `size` characters. */
  make(size: number): string;
}

export interface Parser {
  readonly name: string;
  /** The measured source files, from the top of the repository. */
  readonly reads: readonly string[];
  readonly shapes: readonly Shape[];
  /** Characters of the first input. Larger than the default for copying, which is fast up to large sizes. */
  readonly smallest?: number;
  /** Characters of the largest input. Smaller than the default if the parser accepts less. */
  readonly largest?: number;
  run(input: string): unknown;
}

export interface Fault {
  readonly shape: string;
  readonly what: string;
}

const FIRST = 1024;
/** Growth that is not linear shows in the steps to 64 KiB, and ten thousand levels overflow the stack. At night one more is tried. */
export const LARGEST = sized(64 * 1024, 256 * 1024);
/** Shorter times are lost in noise. Above it, the time is compared with that of a quarter, and of four times the size. */
const NOTICED_MS = 2;
/** Steps shorter than this are harmless. */
const FLOOR_MS = 60;
/** A bound between the 4 of linear growth and the 16 of quadratic growth. */
const MOST_GROWTH = 8;
/** Processor time per character. A linear parser stays far below. */
const MOST_US_PER_CHARACTER = 50;
const TRIES = 4;

/** The shapes for which a parser takes more than linear time or overflows the stack. */
export async function faultsOf(parser: Parser): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const shape of parser.shapes) {
    const what = await faultAt(parser, shape);
    if (what !== null) faults.push({ shape: shape.name, what });
  }
  return faults;
}

/** Tries one size if that takes no time, two if the growth is linear, and larger ones to confirm a suspicion. */
async function faultAt(parser: Parser, shape: Shape): Promise<string | null> {
  const largest = parser.largest ?? LARGEST;
  if (shape.isDeep === true) {
    const deep = await timeOf(parser, shape.make(largest));
    if (typeof deep === "string") return `${deep} at ${largest} characters`;
  }
  const first = parser.smallest ?? FIRST;
  if (4 * first <= largest) {
    const took = await timeOf(parser, shape.make(4 * first));
    if (typeof took === "string") return `${took} at ${4 * first} characters`;
    if (took <= NOTICED_MS) return null;
  }
  let before = await bestOf(parser, shape.make(first), 1, 0);
  for (let size = 4 * first; size <= largest && typeof before === "number"; size *= 4) {
    const most = MOST_GROWTH * before;
    const took = await bestOf(parser, shape.make(size), TRIES, Math.max(NOTICED_MS, most));
    if (typeof took === "string") return `${took} at ${size} characters`;
    const isSteep = took > NOTICED_MS && took > most;
    const isSlow = took > (size * MOST_US_PER_CHARACTER) / 1000;
    if (took > FLOOR_MS && (isSlow || (isSteep && (await staysSteep(parser, shape, size))))) {
      return `${took.toFixed(1)} ms for ${size} characters, ${before.toFixed(1)} ms for a quarter`;
    }
    if (!isSteep && !isSlow) return null;
    before = took;
  }
  return typeof before === "string" ? before : null;
}

/**
 * Compares sums of several runs at both sizes. A parser that keeps many small buffers is collected in one run and not in
 * the next, so that single runs of one size differ by more than sizes do.
 */
async function staysSteep(parser: Parser, shape: Shape, size: number): Promise<boolean> {
  const inputs = [shape.make(size / 4), shape.make(size)] as const;
  let small = 0;
  let large = 0;
  for (let count = 0; count < 2 * TRIES; count += 1) {
    const times = [await timeOf(parser, inputs[0]), await timeOf(parser, inputs[1])] as const;
    if (typeof times[0] === "string" || typeof times[1] === "string") return true;
    small += times[0];
    large += times[1];
  }
  return large > MOST_GROWTH * small;
}

/** The shortest time of several tries; one try is enough if it is short. */
async function bestOf(
  parser: Parser,
  input: string,
  tries: number,
  enough: number,
): Promise<number | string> {
  let best = Infinity;
  for (let count = 0; count < tries && best > enough; count += 1) {
    const took = await timeOf(parser, input);
    if (typeof took === "string") return took;
    best = Math.min(best, took);
  }
  return best;
}

/** Milliseconds of processor time, or a text if the parser failed in a way that no parser may. */
async function timeOf(parser: Parser, input: string): Promise<number | string> {
  const start = process.cpuUsage();
  try {
    await parser.run(input);
  } catch (error) {
    if (!isRefusal(error)) return String(error);
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** A refusal is correct. A RangeError is a stack overflow or a string that grew too long. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && !(error instanceof RangeError) && !(error instanceof TypeError);
}
