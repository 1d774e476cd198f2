/**
 * Names and digests of objects recently seen in the store. Successive attempts put the same small files (an
 * environment, a tool list) again and again; this saves a request for each.
 *
 * A name is remembered for `keptMs`, so an object that an operator or an archive removes is soon stored again. At most
 * `most` names are remembered; the oldest is forgotten first.
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
    if (this.seen.size > this.most && oldest.done !== true) this.seen.delete(oldest.value);
  }

  has(name: string, digest: string): boolean {
    const entry = this.seen.get(name);
    if (entry === undefined || entry.digest !== digest) return false;
    if (entry.untilMs > this.now()) return true;
    this.seen.delete(name);
    return false;
  }

  forget(name: string): void {
    this.seen.delete(name);
  }
}
