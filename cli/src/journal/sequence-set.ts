// Which sequences of a stream were seen: one bit each, so a million of them are 125 KB.

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

  /** Stretches from 1 to `last` that were not seen. */
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
