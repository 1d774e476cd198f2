// Who may open one more event stream: the places are shared, so that no caller and no machine takes them all. Pure.
import { limits } from "@antiphon/contracts";

export interface Watcher {
  /** Whom the request speaks for. */
  readonly principal: string;
  /** The remote address of its connection. */
  readonly address: string;
}

export class StreamPlaces {
  #taken = 0;
  readonly #ofPrincipal = new Map<string, number>();
  readonly #ofAddress = new Map<string, number>();

  /** Takes a place; what is full, in words, when there is none. */
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
