/** Headers of every message. `headers.get()` of nats.js is case-sensitive: use these constants. */
export const HEADERS = {
  contentType: "Content-Type",
  schema: "Antiphon-Schema",
  run: "Antiphon-Run",
  task: "Antiphon-Task",
  epoch: "Antiphon-Epoch",
  cause: "Antiphon-Cause",
  after: "Antiphon-After",
  digest: "Antiphon-Digest",
  signature: "Antiphon-Signature",
  traceparent: "traceparent",
  restored: "Antiphon-Restored",
} as const;

export const HEADER_MEANINGS: { readonly [H in keyof typeof HEADERS]: string } = {
  contentType: "`application/msgpack` for messages, `application/json` for documents.",
  schema: "Id of the payload's contract: `journal.dispatch.v1`, `SandboxRequest.v1`.",
  run: "Run id.",
  task: "Task id; `-` on run-level records.",
  epoch: "The attempt's fencing number; `0` on run-level records.",
  cause: "`<seq>:<digest>` of the record that led to this one; absent on records from outside.",
  after:
    "Sequence of the run's previous record. The server stored this one only because no record was in between. Absent if the writer did not ask for that.",
  digest: "`sha256-<base64url>` of the payload bytes.",
  signature: "`<kid>.<base64url>`: a Director's Ed25519 signature over the digest, on its decisions.",
  traceparent: "W3C trace context of the run's stage that the message belongs to, if the run has a trace.",
  restored: "On restored records: the `<seq>:<time>` they had in the journal before they were archived.",
};

export const MSGPACK = "application/msgpack";
