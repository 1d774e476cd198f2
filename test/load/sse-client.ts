/** A client of event streams that loses its connection now and then, resumes, and counts what is missing or came twice. */
import { get, type IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { SseParser } from "../../cli/src/gateway/sse-parser.ts";

/** A run and the sequences of its records so far. */
export interface Followed {
  readonly runId: string;
  readonly sequences: number[];
  closed: boolean;
}

export interface Place {
  readonly url: string;
  readonly address: string;
  readonly token: string;
}

const LOOK_MS = 50;

export class SseClient {
  readonly #place: Place;
  readonly #dropMs: number;
  events = 0;
  resumed = 0;
  gaps = 0;
  twice = 0;
  /** Answers other than 200, and sequences that went back. */
  faults = 0;
  runs = 0;
  /** Connections that ended before an answer. */
  lost = 0;
  /** The statuses of answers other than 200. */
  readonly refusals: number[] = [];

  /** `dropMs`: it loses its connection after this long, on average. */
  constructor(place: Place, dropMs: number) {
    this.#place = place;
    this.#dropMs = dropMs;
  }

  /** Follows what `next` names, each run to its end, until there is no other one. */
  async followAll(next: () => Followed | "wait" | undefined): Promise<void> {
    for (let last: Followed | null = null; ;) {
      const run = next();
      if (run === undefined) return;
      if (run === "wait" || run === last) await pause(LOOK_MS);
      else await this.#follow((last = run));
    }
  }

  async #follow(run: Followed): Promise<void> {
    const got: number[] = [];
    for (let isOver = false; !isOver;) isOver = await this.#readOnce(run, got);
    while (!run.closed) await pause(LOOK_MS); // The writer has its answer later than the reader its event.
    const had = new Set(got);
    this.twice += got.length - had.size;
    this.gaps += run.sequences.filter((seq) => !had.has(seq)).length;
    this.runs += 1;
  }

  /** True: the run is over. */
  async #readOnce(run: Followed, got: number[]): Promise<boolean> {
    const { url, address, token } = this.#place;
    const last = got.at(-1);
    if (last !== undefined) this.resumed += 1;
    const headers = {
      accept: "text/event-stream",
      authorization: `Bearer ${token}`,
      ...(last === undefined ? {} : { "last-event-id": String(last) }),
    };
    const response = await open(`${url}/runs/${run.runId}/events`, headers, address).catch(() => null);
    if (response === null) {
      this.lost += 1;
      await pause(1_000);
      return false;
    }
    if (response.statusCode !== 200) {
      this.faults += 1;
      this.refusals.push(response.statusCode ?? 0);
      response.destroy();
      await pause(1_000);
      return false;
    }
    return this.#read(response, got);
  }

  #read(response: IncomingMessage, got: number[]): Promise<boolean> {
    return new Promise((resolve) => {
      const parser = new SseParser();
      let isOver = false;
      const drop = setTimeout(() => response.destroy(), -Math.log(1 - Math.random()) * this.#dropMs);
      response.setEncoding("utf8").on("data", (text: string) => {
        for (const { id, event } of parser.push(text)) {
          if (id === null) continue;
          if (Number(id) < (got.at(-1) ?? 0)) this.faults += 1;
          got.push(Number(id));
          this.events += 1;
          isOver ||= event === "closed";
        }
      });
      response.once("error", () => response.destroy());
      response.once("close", () => {
        clearTimeout(drop);
        resolve(isOver);
      });
    });
  }
}

function open(url: string, headers: Record<string, string>, localAddress: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers, localAddress, agent: false }, resolve).once("error", reject);
  });
}
