// The set of sequences seen in a stream, one bit each: a million take 125 KB.

export class SequenceSet {
  #bits = new Uint8Array(1024);

  add(seq: number): void {
    const byte = seq >> 3;
    if (byte >= this.#bits.length) {
      const grown = new Uint8Array(Math.max(byte + 1, 2 * this.#bits.length));
      grown.set(this.#bits);
      this.#bits = grown;
    }
    this.#bits[byte] = (this.#bits[byte] ?? 0) | (1 << (seq & 7));
  }

  has(seq: number): boolean {
    return ((this.#bits[seq >> 3] ?? 0) & (1 << (seq & 7))) !== 0;
  }

  /** The ranges between 1 and `last` that were not seen. */
  gapsUpTo(last: number): [from: number, to: number][] {
    const gaps: [number, number][] = [];
    for (let seq = 1; seq <= last; seq += 1) {
      if (this.has(seq)) continue;
      const open = gaps.at(-1);
      if (open?.[1] === seq - 1) open[1] = seq;
      else gaps.push([seq, seq]);
    }
    return gaps;
  }
}
