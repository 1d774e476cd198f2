/** Checks the errors the NATS client throws against the names that contracts knows them by. */
import { AntiphonError } from "@antiphon/contracts";
import { errors } from "@nats-io/nats-core";
import { jserrors } from "@nats-io/jetstream/internal";
import { expect, test } from "vitest";

const nobody = new errors.NoRespondersError("a.subject");
const outages: readonly (readonly [string, Error])[] = [
  ["a request that nobody answered in time", new errors.TimeoutError()],
  ["a request that nobody serves", new errors.RequestError(nobody.message, { cause: nobody })],
  ["nobody at the subject", nobody],
  ["a closed connection", new errors.ClosedConnectionError()],
  ["a connection that is being drained", new errors.DrainingConnectionError()],
  ["a connection that failed", new errors.ConnectionError("reset")],
  ["a server without its JetStream", new jserrors.JetStreamNotEnabled("not enabled")],
];

test.each(outages)(
  "%s is ANT_NATS_UNREACHABLE: it is retried and not reported as a fault",
  (_name, thrown) => {
    const error = AntiphonError.from(thrown);
    expect([error.code, error.disposition, error.httpStatus]).toEqual(["ANT_NATS_UNREACHABLE", "retry", 503]);
    expect(error.cause).toBe(thrown);
  },
);

test("a caller's own deadline and an error without a name are no outage, and a fallback code wins", () => {
  expect(AntiphonError.from(new DOMException("late", "TimeoutError")).code).toBe("ANT_INTERNAL");
  expect(AntiphonError.from(new Error("odd")).code).toBe("ANT_INTERNAL");
  expect(AntiphonError.from(new errors.TimeoutError(), "ANT_SANDBOX_FAILED").code).toBe("ANT_SANDBOX_FAILED");
});
