/**
 * Names of objects that were seen stored a moment ago, with their digests: the same small file (an environment, a
 * tool list) is put again and again by attempts that follow each other, and need not be asked for each time.
 *
 * Invariants:
 *   Z5 A name is remembered for `keptMs` after it was seen stored, not longer: what an operator or an archive
 *      removes is put again soon.
 *   Z6 At most `most` names are remembered; the oldest goes first.
 */
export class RecentNames {
  private readonly seen = new Map<string, { digest: string; untilMs: number }>();
  private readonly now: () => number;
  private readonly keptMs: number;
  private readonly most: number;

  constructor(now: () => number, keptMs = 30_000, most = 512) {
    this.now = now;
    this.keptMs = keptMs;
    this.most = most;
  }

  add(name: string, digest: string): void {
    this.seen.delete(name);
    this.seen.set(name, { digest, untilMs: this.now() + this.keptMs });
    const oldest = this.seen.keys().next();
    if (this.seen.size > this.most && oldest.done !== true) this.seen.delete(oldest.value); // Z6
  }

  has(name: string, digest: string): boolean {
    const entry = this.seen.get(name);
    if (entry === undefined || entry.digest !== digest) return false;
    if (entry.untilMs > this.now()) return true;
    this.seen.delete(name); // Z5
    return false;
  }

  forget(name: string): void {
    this.seen.delete(name);
  }
}
