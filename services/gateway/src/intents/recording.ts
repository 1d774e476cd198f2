// Stores a recorded agent session under its replay key, where a replay finds it (RFC 000).
import { keys, replayKey, validate } from "@antiphon/contracts";
import { malformed } from "../http/malformed.ts";
import type { Backend } from "../ports.ts";

export async function storeRecording(backend: Backend, body: unknown): Promise<{ replayKey: string }> {
  const { input, output, ...rest } = (body ?? {}) as Record<string, unknown>;
  const [stranger] = Object.keys(rest);
  if (stranger !== undefined) {
    const problem = {
      path: `/${stranger}`,
      message: "unknown key",
      expected: "input, output",
      found: stranger,
    };
    throw malformed("ANT_CONTRACT_INVALID", [problem]);
  }
  const request = validate("OCCompileInput", input);
  if (!request.ok) throw malformed("ANT_CONTRACT_INVALID", request.errors, "/input");
  const response = validate("OCCompileOutput", output);
  if (!response.ok) throw malformed("ANT_CONTRACT_INVALID", response.errors, "/output");
  const key = replayKey(request.value);
  await backend.storeRecording(keys.recording(key), { input: request.value, output: response.value });
  return { replayKey: key };
}
