/**
 * The requests ("pulls") of one loop that the server may still answer. A pull is live, or stale once its heartbeat stopped or the
 * connection was lost; a stale one no longer counts, but its late answers do.
 */
interface Pull {
  readonly reply: string;
  wanted: number;
  live: boolean;
  heardAt: number;
}

/** At most half of any expiry, or the server refuses it. */
export const heartbeatMs = 3000;

export class Pulls {
  private readonly expiresMs: number;
  private readonly byReply = new Map<string, Pull>();

  constructor(expiresMs: number) {
    this.expiresMs = expiresMs;
  }

  add(reply: string, wanted: number): void {
    this.byReply.set(reply, { reply, wanted, live: true, heardAt: performance.now() });
  }

  /** Messages that live pulls still wait for. */
  get wanted(): number {
    let wanted = 0;
    for (const pull of this.byReply.values()) if (pull.live) wanted += pull.wanted;
    return wanted;
  }

  /** The pull at a reply subject has had a status of the server. False: there is none. */
  heard(reply: string): boolean {
    const pull = this.byReply.get(reply);
    if (pull !== undefined) pull.heardAt = performance.now();
    return pull !== undefined;
  }

  /** Counts a delivery. It does not say which pull it answers, but the server answers them in their order. */
  delivered(): void {
    const pull = this.oldest();
    if (pull === undefined) return;
    pull.heardAt = performance.now();
    if (--pull.wanted <= 0) this.end(pull.reply);
  }

  end(reply: string): void {
    this.byReply.delete(reply);
  }

  /** The connection is lost: every pull is stale. */
  suspend(): void {
    for (const pull of this.byReply.values()) pull.live = false;
  }

  checkHeartbeats(): void {
    const now = performance.now();
    for (const pull of [...this.byReply.values()]) {
      const silent = now - pull.heardAt;
      if (silent > 2 * heartbeatMs) pull.live = false;
      if (!pull.live && silent > this.expiresMs + 2 * heartbeatMs) this.end(pull.reply);
    }
  }

  /** The pull that the server answers now; if a delivery belongs to another one, that one's heartbeats tell. */
  private oldest(): Pull | undefined {
    let stale: Pull | undefined;
    for (const pull of this.byReply.values()) {
      if (pull.live) return pull;
      stale ??= pull;
    }
    return stale;
  }
}
