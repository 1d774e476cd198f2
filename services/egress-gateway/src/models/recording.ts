/** Reads the recording of a model call back from the evidence. Pure. */
import { AntiphonError, validate, type ModelRecording } from "@antiphon/contracts";

/** Throws ANT_REPLAY_NO_RECORD for anything else. */
export function readRecording(bytes: Buffer): ModelRecording {
  let document: unknown;
  try {
    document = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new AntiphonError("ANT_REPLAY_NO_RECORD", "a recorded call is not JSON", { cause: error });
  }
  const checked = validate("ModelRecording", document);
  if (checked.ok) return checked.value;
  const [first] = checked.errors;
  throw new AntiphonError(
    "ANT_REPLAY_NO_RECORD",
    `a recorded call is invalid: ${first?.path ?? ""} ${first?.message ?? ""}`,
  );
}
