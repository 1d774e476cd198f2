// Limits the open event streams in all, per principal and per address, so that no caller takes every place. Pure.
import { limits } from "@antiphon/contracts";

export interface Watcher {
  /** The request's principal. */
  readonly principal: string;
  /** The connection's remote address. */
  readonly address: string;
}

export class StreamPlaces {
  #taken = 0;
  readonly #ofPrincipal = new Map<string, number>();
  readonly #ofAddress = new Map<string, number>();

  /** Takes a place. Returns null, or the limit that was reached, in words. */
  take({ principal, address }: Watcher): string | null {
    if (this.#taken >= limits.sseClients) return `${limits.sseClients} event streams are open already`;
    if ((this.#ofPrincipal.get(principal) ?? 0) >= limits.sseClientsPerPrincipal)
      return `${limits.sseClientsPerPrincipal} event streams of one principal are open already`;
    if ((this.#ofAddress.get(address) ?? 0) >= limits.sseClientsPerAddress)
      return `${limits.sseClientsPerAddress} event streams to one address are open already`;
    this.#taken += 1;
    count(this.#ofPrincipal, principal, 1);
    count(this.#ofAddress, address, 1);
    return null;
  }

  leave({ principal, address }: Watcher): void {
    this.#taken -= 1;
    count(this.#ofPrincipal, principal, -1);
    count(this.#ofAddress, address, -1);
  }
}

function count(places: Map<string, number>, key: string, by: number): void {
  const now = (places.get(key) ?? 0) + by;
  if (now > 0) places.set(key, now);
  else places.delete(key);
}
