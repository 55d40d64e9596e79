import { createContextKey, type StreamRequest, type UnaryRequest } from "@connectrpc/connect";
import { newId } from "../common/ids.ts";

const requestIdKey = createContextKey<string | undefined>(undefined, { description: "request id" });

/** Of an id, and of nothing that somebody wrote. */
const FORM = /^[\w.-]{1,64}$/;

/** Returns the id that all lines of a call have in the log: its caller's `x-request-id`, else one made here. */
export function requestIdOf({ header, contextValues }: UnaryRequest | StreamRequest): string {
  const known = contextValues.get(requestIdKey);
  if (known !== undefined) return known;
  const given = header.get("x-request-id") ?? "";
  const id = FORM.test(given) ? given : `req_${newId()}`;
  contextValues.set(requestIdKey, id);
  return id;
}
