import { type HeaderLines, headerLines, joined, noHeaders } from "../nats/wire-headers.ts";
import type { Outgoing } from "./publisher.ts";

/** The headers of one message: its own, its expectation, and its place in an atomic batch. */
export function publishHeaders(out: Outgoing, place = noHeaders): HeaderLines {
  return joined(out.headers, expectation(out), place);
}

export function batchPlace(id: string, sequence: number, isLast: boolean): HeaderLines {
  const commit = isLast ? "Nats-Batch-Commit: 1\r\n" : "";
  return `Nats-Batch-Id: ${id}\r\nNats-Batch-Sequence: ${sequence}\r\n${commit}` as HeaderLines;
}

function expectation({ expectLastSubjectSequence: last, expectedSubject }: Outgoing): HeaderLines {
  if (last === undefined) return noHeaders;
  const what = { "Nats-Expected-Last-Subject-Sequence": String(last) };
  if (expectedSubject === undefined) return headerLines(what);
  return headerLines({ ...what, "Nats-Expected-Last-Subject-Sequence-Subject": expectedSubject });
}
