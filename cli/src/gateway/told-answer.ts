// The answer to a request that takes minutes and tells what it is at: server-sent events, of which the last is the answer.
import type { LiveOutput } from "./run-stream.ts";
import { SseParser } from "./sse-parser.ts";

export class ToldAnswer {
  readonly #parser = new SseParser();
  readonly #decoder = new TextDecoder();
  readonly #hear: (news: LiveOutput) => void;
  #answer: string | null = null;

  constructor(hear: (news: LiveOutput) => void) {
    this.#hear = hear;
  }

  push(part: Buffer): void {
    for (const { event, data } of this.#parser.push(this.#decoder.decode(part, { stream: true }))) {
      if (event === "log") this.#hear(JSON.parse(data) as LiveOutput);
      else if (event === "answer") this.#answer = data;
    }
  }

  /** JSON. An older gateway, and a refusal, have it as the whole body. */
  text(body: Buffer): string {
    return this.#answer ?? body.toString();
  }
}
