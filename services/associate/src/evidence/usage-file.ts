/** The file of the evidence that holds what the agent says it has used. */
import type { AttemptPorts } from "../ports.ts";
import type { BundleFile } from "./bundle.ts";
import type { Ran, Work } from "./ran.ts";
import { saidUsage, type UsageText } from "./said-usage.ts";

const USAGE_FILE = "usage.json";

/** The agent's own word, which is no reason to lose an attempt. */
export async function usageIn(
  transcript: readonly BundleFile[],
  ran: Ran,
  { evidence, log }: Pick<AttemptPorts, "evidence" | "log">,
): Promise<BundleFile[]> {
  const { work, printed = null } = ran;
  // A program that waits goes on, and what it prints at its end says all that it has used.
  if (work?.usage === undefined || printed !== null) return [];
  try {
    const told = await usageTextOf(work, transcript, ran, evidence);
    const said = told === null ? null : saidUsage(work.usage, told);
    return said === null ? [] : [{ path: USAGE_FILE, text: `${JSON.stringify(said)}\n` }];
  } catch (error) {
    log.warn({ err: error }, "what the agent says that it has used cannot be read");
    return [];
  }
}

/** A file of its own, or the transcript. Null: there is none, or it holds no events. */
async function usageTextOf(
  { usage, account }: Work,
  [transcript]: readonly BundleFile[],
  { plan, outcome, used }: Ran,
  evidence: AttemptPorts["evidence"],
): Promise<UsageText | null> {
  if (usage?.from !== undefined)
    return used == null
      ? null
      : { text: used.content.toString("utf8"), format: usage.from.format, isWhole: true };
  if (transcript === undefined || account === undefined || account.format === "text") return null;
  const text = "text" in transcript ? transcript.text : await evidence.text(transcript);
  const step = outcome?.steps.find(({ id }) => id === plan?.work.at(-1)?.id);
  const isWhole = account.file !== undefined || step?.stdout.truncated !== true;
  return { text, format: account.format, isWhole };
}
