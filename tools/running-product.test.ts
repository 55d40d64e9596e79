import { ErrorInfoSchema } from "@activity/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { isAway } from "./running-product.ts";

const answered = (code: Code, infoCode: string) =>
  new ConnectError("refused", code, undefined, [
    { desc: ErrorInfoSchema, value: { code: infoCode } },
  ]);

it.each([
  ["no answer", new ConnectError("connect ECONNREFUSED", Code.Unavailable), true],
  ["another core", answered(Code.Unauthenticated, "invalid_service_credential"), true],
  ["a core without its database", answered(Code.Unavailable, "temporarily_unavailable"), false],
  ["a refusal", answered(Code.NotFound, "account_not_found"), false],
])("tools tell whether npm start does not run: %s", (_, error, away) => {
  expect(isAway(error)).toBe(away);
});
