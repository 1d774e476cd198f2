/**
 * A glob without braces as an automaton whose states are bits: each character of a path advances all states at once.
 * Matching takes a fixed number of word operations for each character, whatever the pattern, and never backtracks.
 */
export type Token =
  { kind: "char"; char: string } | { kind: "any" } | { kind: "star" } | { kind: "globstar" };

/** Matches only at the start of a name and consumes no character: the remainder of a leading `**` and its slash. */
export const NAME_START = "\0/";

/** Bit `i` is set when the first `i` tokens are matched. */
type States = Uint32Array;

export class GlobProgram {
  readonly #length: number;
  readonly #words: number;
  /** States that a character advances. Any other character except a slash advances `#any`. */
  readonly #moves = new Map<string, States>();
  readonly #any: States;
  readonly #stars: States;
  readonly #globstars: States;
  readonly #nameStarts: States;

  constructor(tokens: readonly Token[]) {
    this.#length = tokens.length;
    this.#words = (tokens.length >> 5) + 1;
    const bits = (kind: Token["kind"], char?: string): States => {
      const states = new Uint32Array(this.#words);
      tokens.forEach((token, i) => {
        const fits = token.kind === kind && (token.kind !== "char" || token.char === char);
        if (fits) setBit(states, i);
      });
      return states;
    };
    this.#any = bits("any");
    this.#stars = bits("star");
    this.#globstars = bits("globstar");
    this.#nameStarts = bits("char", NAME_START);
    tokens.forEach((token, i) => {
      if (token.kind === "char" && token.char !== NAME_START) setBit(this.#movesOf(token.char), i);
    });
    this.#movesOf("/");
  }

  #movesOf(char: string): States {
    const known = this.#moves.get(char);
    if (known !== undefined) return known;
    const states = char === "/" ? new Uint32Array(this.#words) : this.#any.slice();
    this.#moves.set(char, states);
    return states;
  }

  matches(path: string): boolean {
    let states: States = new Uint32Array(this.#words);
    let next: States = new Uint32Array(this.#words);
    setBit(states, 0);
    this.#skip(states, true);
    for (let at = 0; at < path.length; at += 1) {
      const char = path[at] ?? "";
      if (!this.#step(states, next, char)) return false;
      this.#skip(next, char === "/");
      [states, next] = [next, states];
    }
    return ((states[this.#length >> 5] ?? 0) & (1 << (this.#length & 31))) !== 0;
  }

  /** Returns false when no state is left. */
  #step(states: States, next: States, char: string): boolean {
    const moves = this.#moves.get(char) ?? this.#any;
    const isSlash = char === "/";
    let carry = 0;
    let left = 0;
    for (let word = 0; word < this.#words; word += 1) {
      const now = states[word] ?? 0;
      const moved = now & (moves[word] ?? 0);
      const stays = (this.#globstars[word] ?? 0) | (isSlash ? 0 : (this.#stars[word] ?? 0));
      next[word] = (moved << 1) | carry | (now & stays);
      carry = moved >>> 31;
      left |= next[word] ?? 0;
    }
    return left !== 0;
  }

  /** Stars may match nothing, and a name start passes where one is. Each round passes one token of a run of them. */
  #skip(states: States, atNameStart: boolean): void {
    for (let isMore = true; isMore;) {
      isMore = false;
      let carry = 0;
      for (let word = 0; word < this.#words; word += 1) {
        const now = states[word] ?? 0;
        const passable =
          (this.#stars[word] ?? 0) |
          (this.#globstars[word] ?? 0) |
          (atNameStart ? (this.#nameStarts[word] ?? 0) : 0);
        const passed = now & passable;
        const after = (now | (passed << 1) | carry) >>> 0;
        carry = passed >>> 31;
        if (after === now) continue;
        states[word] = after;
        isMore = true;
      }
    }
  }
}

function setBit(states: States, bit: number): void {
  states[bit >> 5] = (states[bit >> 5] ?? 0) | (1 << (bit & 31));
}
