/** The recording of a call that left: the request and what arrived of its answer, without secrets. Pure. */
import { digestOf, type ModelRecording } from "@antiphon/contracts";
import { scrubbed } from "../policy/scrubber.ts";
import type { Target } from "../policy/target.ts";
import { withTexts } from "./json-texts.ts";
import type { Charge } from "./ledger.ts";
import { maskedAnswer } from "./masked-answer.ts";
import type { ReceivedAnswer } from "./received-answer.ts";

/** A call that left. `target` is where it went, `asked` where the program sent it. */
export interface LeftCall {
  readonly model: string;
  readonly target: Pick<Target, "host" | "path">;
  readonly asked: Target;
  /** The body as it left. */
  readonly body: unknown;
  readonly received: ReceivedAnswer;
  readonly charged: Charge;
}

export interface Masking {
  readonly secrets: readonly string[];
  /** Masks secrets of the run, and what looks like one. It keeps the length of a text. */
  readonly mask: (text: string) => string;
}

export function recordingOf(call: LeftCall, masking: Masking): Buffer {
  const { model, target, received, charged } = call;
  const type = received.headers["content-type"];
  const request = { host: target.host, path: target.path, body: masked(call.body, masking) };
  const { host, port, path } = call.asked;
  const isStream = typeof type === "string" && type.toLowerCase().startsWith("text/event-stream");
  const answer = maskedAnswer(received.text, isStream, masking.mask);
  const document: ModelRecording = {
    v: 1,
    request_digest: digestOf(Buffer.from(JSON.stringify(request), "utf8")),
    request,
    asked: { host, port, path },
    response: {
      status: received.status,
      content_type: typeof type === "string" ? type : null,
      text: answer,
      ...(answer === received.text ? {} : { masked: true as const }),
      truncated: received.truncated,
      whole: received.isWhole,
    },
    model,
    charged,
  };
  return Buffer.from(`${JSON.stringify(document, null, 1)}\n`, "utf8");
}

/** A body without secrets in any text of it. */
function masked(value: unknown, { secrets, mask }: Masking): ModelRecording["request"]["body"] {
  return withTexts(value, (text) => mask(scrubbed(text, secrets))) as ModelRecording["request"]["body"];
}
