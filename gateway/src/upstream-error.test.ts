import { createLog } from "@activity/runtime/log";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { coreError } from "./testing/router-core.ts";
import { responseFromError } from "./upstream-error.ts";

function responseTo(error: unknown) {
  const logged: string[] = [];
  const log = createLog((line) => void logged.push(line));
  const response = responseFromError(error, "req_1", log);
  return { ...response, error: JSON.parse(String(response.body)).error, logged };
}

describe("§7 a failed upstream call", () => {
  it.each([
    [Code.InvalidArgument, "invalid_cursor", 400],
    [Code.Unauthenticated, "invalid_api_key", 401],
    [Code.PermissionDenied, "account_unavailable", 403],
    [Code.ResourceExhausted, "rate_limit_exceeded", 429],
    [Code.Unavailable, "temporarily_unavailable", 503],
    [Code.Internal, "internal_error", 500],
  ])("%s with %s gives %s and the gateway's own message", (code, name, status) => {
    const response = responseTo(coreError(code, name));
    expect(response.status).toBe(status);
    expect(response.error).toMatchObject({ code: name, request_id: "req_1" });
    expect(response.body).not.toContain("inner text");
    expect(response.headers).toContain("RateLimit");
    expect(response.headers.join()).not.toContain("never copied");
    expect(response.headers.includes("Retry-After")).toBe(status === 429 || status === 503);
    expect(response.headers.includes("WWW-Authenticate")).toBe(status === 401);
  });

  it("is not logged when the core has logged it", () => {
    expect(responseTo(coreError(Code.Internal, "internal_error")).logged).toEqual([]);
  });

  it("returns the core's message about a parameter", () => {
    const error = coreError(Code.InvalidArgument, "invalid_parameter", "since accepts …");
    expect(responseTo(error).error.message).toBe("since accepts …");
  });

  it.each([Code.Unavailable, Code.DeadlineExceeded, Code.Canceled, Code.ResourceExhausted])(
    "without a known cause, with status %s, is an outage",
    (code) => {
      expect(responseTo(new ConnectError("x", code))).toMatchObject({ status: 503, logged: [] });
    },
  );

  it.each([
    [Code.Unauthenticated, "invalid_service_credential"],
    [Code.PermissionDenied, "permission_denied"],
  ])("%s with %s, which refuses the gateway and not its client, is an outage", (code, name) => {
    const response = responseTo(coreError(code, name));
    expect([response.status, response.error.code]).toEqual([503, "temporarily_unavailable"]);
  });

  it.each([
    ["an unexpected code", new ConnectError("secret", Code.Unimplemented)],
    ["a code of the core's internal callers", coreError(Code.Unavailable, "username_taken")],
    ["an exception", new TypeError("secret")],
    ["no error at all", "a word"],
  ])("%s is internal_error, logged with the request id", (_name, error) => {
    const response = responseTo(error);
    expect(response.status).toBe(500);
    expect(response.body).not.toContain("secret");
    expect(response.logged).toEqual([expect.stringContaining('"requestId":"req_1"')]);
    expect(response.logged.join()).not.toContain("inner text");
  });
});
