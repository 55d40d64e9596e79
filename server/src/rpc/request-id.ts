import { redactText } from "@activity/runtime/redaction";
import { createContextKey, type StreamRequest, type UnaryRequest } from "@connectrpc/connect";
import { newId } from "../common/ids.ts";

const requestIdKey = createContextKey<string | undefined>(undefined, { description: "request id" });

/** The form that a caller's request id must have. */
const FORM = /^[\w.-]{1,64}$/;

/**
 * Returns the id that all log lines of a call share: its caller's `x-request-id`, or else a new one. The log would
 * redact an id that looks like a secret, so such an id is replaced too.
 */
export function requestIdOf({ header, contextValues }: UnaryRequest | StreamRequest): string {
  const stored = contextValues.get(requestIdKey);
  if (stored !== undefined) return stored;
  const given = header.get("x-request-id") ?? "";
  const isShown = FORM.test(given) && redactText(given) === given;
  const id = isShown ? given : `req_${newId()}`;
  contextValues.set(requestIdKey, id);
  return id;
}
