// Stores sessions in JetStream: one subject per register, each written once by compare-and-set, as in the journal.
import {
  AntiphonError,
  BUCKETS,
  HEADERS,
  MSGPACK,
  decode,
  encode,
  keys,
  limits,
  subjects,
  validate,
} from "@antiphon/contracts";
import type { PolicyConfig, SessionClaim, SessionConfig, SessionEntry } from "@antiphon/contracts";
import { openKv, tail } from "@antiphon/runtime";
import { headerLines } from "@antiphon/runtime/nats/wire-headers";
import type { Bus } from "@antiphon/runtime";
import type { SessionLog, SessionStore } from "./session-register.ts";
import { LOCAL } from "../policy/built-in-policies.ts";
import { malformed } from "../http/malformed.ts";
import { DEADLINE_MS, soon } from "../http/deadline.ts";

const STREAM = "ANT_SESSIONS";
/** Configurations that the list of sessions reads at once. */
const OPENED = 512;
/** Registers that a follower reads at once. */
const PAGE = 32;

/** `builtIn`: the policies used when an operator has stored none. */
export function openSessionStore(bus: Bus, builtIn: PolicyConfig = LOCAL): SessionStore {
  const policies = openKv(bus, BUCKETS.policies);

  return {
    write(sessionId, register, document) {
      const schema = register === 0 ? "SessionConfig.v1.3" : "SessionEntry.v1";
      return writeOnce(bus, subjects.session(sessionId, register), schema, document);
    },
    follow(sessionId, from, signal) {
      const readFrom = async (first: number): Promise<SessionEntry[]> => {
        const wanted = Array.from({ length: PAGE }, (_, i) => subjects.session(sessionId, first + i));
        const messages = await soon(bus.reader.multiLast(STREAM, wanted));
        return messages.map(({ data }) => decode(data) as SessionEntry);
      };
      const sequenceOf = ({ event }: SessionEntry): number => event.sequence;
      return tail(
        bus,
        { subject: subjects.sessionAll(sessionId), readFrom, sequenceOf },
        { fromSeq: from, signal },
      );
    },
    async opened(fromSeq) {
      const query = { filter: subjects.sessionsOpened, seq: fromSeq, batch: OPENED };
      const { messages } = await soon(bus.reader.next(STREAM, query));
      return messages.map(({ subject, seq, at }) => ({
        sessionId: subject.split(".").at(-2) ?? "",
        seq,
        at,
      }));
    },
    claim: (sessionId, command, n, claim) =>
      writeOnce(bus, subjects.sessionClaim(sessionId, command, n), "SessionClaim.v1", claim),
    async claims(sessionId, command) {
      const wanted = [subjects.sessionClaims(sessionId, command)];
      const messages = await soon(bus.reader.multiLast(STREAM, wanted));
      return messages.map(({ data }) => decode(data) as SessionClaim);
    },
    async read(sessionId) {
      const messages = await soon(bus.reader.multiLast(STREAM, [subjects.sessionAll(sessionId)]));
      const documents = messages.map(({ data }) => decode(data));
      const [config, ...entries] = documents;
      if (config === undefined) return null;
      return { config: config as SessionConfig, entries: entries as SessionLog["entries"] };
    },
    async policies() {
      const stored = await soon(policies.get(keys.policies)).catch(asPolicyFault);
      if (stored === null) return builtIn;
      const outcome = validate("PolicyConfig", stored.value);
      if (!outcome.ok)
        throw malformed("ANT_POLICY_INVALID", outcome.errors, `${BUCKETS.policies}/${keys.policies}`);
      return outcome.value;
    },
  };
}

/** People write the policies, and without them the built-in ones would apply: the remedy is to correct them, not to delete them. */
function asPolicyFault(error: unknown): never {
  if (!(error instanceof AntiphonError) || error.code !== "ANT_STATE_CORRUPT") throw error;
  const why = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  throw new AntiphonError("ANT_POLICY_INVALID", `${error.detail}${why}`, { cause: error });
}

/** False: the register is already written. */
async function writeOnce(bus: Bus, subject: string, schema: string, document: object): Promise<boolean> {
  const payload = encode(document);
  if (payload.length > limits.messageBytes) {
    const message = `the entry has ${payload.length} bytes; an entry of a session may have ${limits.messageBytes}`;
    throw new AntiphonError("ANT_CONTRACT_LIMIT", message, { data: { limit: limits.messageBytes } });
  }
  const out = {
    ...{ stream: STREAM, subject, payload },
    headers: headerLines({ [HEADERS.contentType]: MSGPACK, [HEADERS.schema]: schema }),
    expectLastSubjectSequence: 0,
    group: false,
  };
  const result = await bus.publish(out, AbortSignal.timeout(DEADLINE_MS));
  if (result.kind === "ok") return true;
  if (result.kind === "unknown") throw new AntiphonError("ANT_NATS_UNREACHABLE", result.reason);
  if (result.refusal === "expectation") return false;
  const code = result.refusal === "full" ? "ANT_NATS_NO_SPACE" : "ANT_NATS_REJECTED";
  throw new AntiphonError(code, `${subject}: ${result.description}`);
}
