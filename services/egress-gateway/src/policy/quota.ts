/** The quota of one sandbox. Bytes are counted before they are passed on, so a chunk that exceeds the quota is not sent. */
import { limits } from "@antiphon/contracts";
import { EgressRefusal } from "./refusal.ts";

export class Quota {
  #requests = 0;
  #up = 0;
  #down = 0;

  get used(): { readonly requests: number; readonly up: number; readonly down: number } {
    return { requests: this.#requests, up: this.#up, down: this.#down };
  }

  request(): void {
    this.#requests += 1;
    if (this.#requests > limits.egressRequests) throw over(`${limits.egressRequests} requests`);
  }

  /** Counts a connection that was refused before it carried a request, so that log lines and requests share one limit. */
  refused(): void {
    this.#requests += 1;
  }

  up(bytes: number): void {
    this.#up += bytes;
    if (this.#up > limits.egressUpBytes) throw over(`${limits.egressUpBytes} bytes sent`);
  }

  down(bytes: number): void {
    this.#down += bytes;
    if (this.#down > limits.egressDownBytes) throw over(`${limits.egressDownBytes} bytes received`);
  }
}

function over(what: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_QUOTA", "quota", `the sandbox exceeded its quota of ${what}`);
}
