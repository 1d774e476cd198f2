// What a session of OpenCode said, as a transcript of bounded size, and where it stands. Pure.

const OUTPUT_CHARS = 2000;
const TEXT_CHARS = 20_000;
const TRANSCRIPT_CHARS = 400_000;

/** Newest last. The oldest are left out if all together are too long. */
export function transcriptOf(messages) {
  const all = messages.flatMap(({ info, parts }) => parts.flatMap((part) => entryOf(info.role, part)));
  let room = TRANSCRIPT_CHARS;
  const first = all.findLastIndex((entry) => (room -= JSON.stringify(entry).length) < 0) + 1;
  return first === 0 ? all : [{ kind: "left-out", entries: first }, ...all.slice(first)];
}

/** A part that is not over yet is no entry. */
export function entryOf(role, part) {
  if (part.type === "text" && (role === "user" || part.time?.end !== undefined))
    return [{ kind: "text", role, text: cut(part.text, TEXT_CHARS) }];
  if (part.type === "step-finish") return [{ kind: "step", tokens: part.tokens?.total ?? 0 }];
  const state = part.state;
  if (part.type !== "tool" || (state.status !== "completed" && state.status !== "error")) return [];
  const output = cut(state.output ?? state.error ?? "", OUTPUT_CHARS);
  return [
    {
      ...{ kind: "tool", name: part.tool, ok: state.status === "completed" },
      ...{ input: cut(JSON.stringify(state.input ?? {}), OUTPUT_CHARS), output },
    },
  ];
}

/** Why the newest answer is none; null: it is one. */
export function faultOf(messages) {
  const error = messages.findLast(({ info }) => info.role === "assistant")?.info.error;
  return error === undefined ? null : `${error.name}: ${cut(error.data?.message ?? "", OUTPUT_CHARS)}`;
}

/** A server that was started again knows nothing of a turn that it did not end. */
export function isOver(messages) {
  const last = messages.at(-1)?.info;
  return (
    last?.role === "assistant" &&
    (last.time?.completed !== undefined || last.error !== undefined) &&
    last.finish !== "tool-calls"
  );
}

/** True: one is under way, and would be cut off with its server. */
export function runsTool(messages) {
  return partsOf(messages.slice(-1)).some(({ state }) => state?.status === "running");
}

export function partsOf(messages) {
  return messages.flatMap(({ parts }) => parts);
}

function cut(text, chars) {
  return text.length > chars ? `${text.slice(0, chars)}...` : text;
}
