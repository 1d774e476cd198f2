/** How the events of an agent are read that say what it has used. Pure. */
import type { PackTranscript } from "../settings/agent-pack.ts";
import type { PackUsage } from "../settings/pack-usage.ts";

interface Said {
  readonly usage?: PackUsage;
  readonly transcript?: PackTranscript;
}

/** Why nothing can be read as the pack says; null: it can. */
export function usageFault({ usage, transcript }: Said): string | null {
  if (usage === undefined) return null;
  const format = (usage.from ?? transcript)?.format;
  if (format === undefined) return `"usage" reads the transcript, and the pack names none`;
  if (format === "text")
    return `"usage" reads events, and the transcript is text: name a file of events in "from"`;
  if (usage.from !== undefined && usage.from.file === transcript?.file)
    return `"from" of "usage" names the file of the transcript: leave it out, and the transcript is read`;
  if (usage.list !== undefined && format !== "json")
    return `"list" of "usage" is a path into one document, and there is one event a line`;
  if (usage.tokens === undefined && usage.cost_usd === undefined)
    return `"usage" names no number: neither "tokens" nor "cost_usd"`;
  return null;
}
