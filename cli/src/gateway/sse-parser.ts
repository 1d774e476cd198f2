// Parses server-sent events. Pure: text chunks in, whole events out, regardless of where the chunks are cut.

export interface ServerEvent {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

export class SseParser {
  #rest = "";

  push(chunk: string): ServerEvent[] {
    const blocks = (this.#rest + chunk).replace(/\r\n?/g, "\n").split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(parseBlock).filter((event) => event !== null);
  }
}

function parseBlock(block: string): ServerEvent | null {
  let id: string | null = null;
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") id = value;
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  return data.length === 0 ? null : { id, event, data: data.join("\n") };
}
