import { AntiphonError, ERROR_CODES, ERRORS } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { errorReply } from "./error-reply.ts";

describe("the error mapper", () => {
  it.each(ERROR_CODES)("gateway/G5: answers %s as an error with code, message and remedy", (code) => {
    const { status, body } = errorReply(new AntiphonError(code, "what happened"));
    expect(status).toBeGreaterThanOrEqual(400);
    const type = `urn:antiphon:error:${code}`;
    expect(body).toMatchObject({ type, status, detail: expect.any(String) as string, code });
    expect(body.title).toBe(ERRORS[code].meaning);
    expect(Object.keys(body.error).slice(0, 3)).toEqual(["code", "message", "remedy"]);
  });

  it("puts data next to the code, so that a path is easy to find", () => {
    const { status, body } = errorReply(
      new AntiphonError("ANT_INTENT_INVALID", "no", { data: { path: "/goal" } }),
    );
    expect(status).toBe(400);
    expect(body.error["path"]).toBe("/goal");
    expect(body).toMatchObject({ path: "/goal" });
  });

  it("lets no data of an error replace a member of the problem document", () => {
    const data = { status: "M", type: "x", title: "x", detail: "x", code: "x", remedy: "x" };
    const { body } = errorReply(new AntiphonError("ANT_INTENT_INVALID", "no", { data }));
    const { title, remedy } = errorReply(new AntiphonError("ANT_INTENT_INVALID", "no")).body;
    expect(body).toMatchObject({ status: 400, detail: "no", code: "ANT_INTENT_INVALID", title, remedy });
  });

  it("gives a retry time if a retry makes sense", () => {
    expect(errorReply(new AntiphonError("ANT_NATS_UNREACHABLE")).retryAfterS).toBe(1);
    expect(errorReply(new AntiphonError("ANT_RUN_NOT_FOUND")).retryAfterS).toBeNull();
  });

  it("gateway/G5: does not reveal the message of an internal error", () => {
    const { status, body } = errorReply(new TypeError("cannot read /srv/secret"));
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain("secret");
  });

  it.each([
    ["FST_ERR_CTP_BODY_TOO_LARGE", 413],
    ["FST_ERR_CTP_INVALID_MEDIA_TYPE", 400],
    ["FST_ERR_BAD_URL", 404],
    ["FST_ERR_MAX_PARAM_LENGTH", 404],
  ])("knows fastify's %s", (code, status) => {
    expect(errorReply(Object.assign(new Error("x"), { code })).status).toBe(status);
  });
});
