import { expect } from "vitest";
import type { HttpAnswer } from "../harness/http.ts";
import { asJson, faultsOf, type Json, openapi } from "./openapi-document.ts";

const PREFIX = "/api/v1";
const COMMON = ["content-type", "content-length", "date", "connection", "keep-alive"];

/** Checks a real answer against openapi.yaml: its status, every header and its body. */
export function expectToMatchOpenapi(answer: HttpAnswer): void {
  const { method, path, status } = answer;
  const request = `${method} ${path.split("?")[0]} ${status}`;
  const response = describedResponse(method, path, status);
  expect(response, `${request} is described`).toBeDefined();
  if (response === undefined) return;
  expectHeaders(answer, asJson(response.headers), request);
  expectBody(answer, response, request);
}

/** Finds the description of an answer. Returns `undefined` for an unknown status. */
function describedResponse(method: string, path: string, status: number): Json | undefined {
  const plain = path.split("?")[0] ?? "";
  const local = plain.startsWith(`${PREFIX}/`) ? plain.slice(PREFIX.length) : "";
  const item = asJson(openapi.paths)[local];
  const operation = item && asJson(item)[method.toLowerCase()];
  const responses = !item
    ? openapi["x-other-paths"]
    : operation
      ? asJson(operation).responses
      : asJson(item)["x-other-methods"];
  const general = asJson(asJson(asJson(asJson(openapi.paths)["/me"]).get).responses);
  // Any request can get a status from 408 on: its cause does not depend on the path or method.
  const own = asJson(responses)[status] ?? (status >= 408 ? general[status] : undefined);
  return own === undefined ? undefined : asJson(own);
}

function expectHeaders(answer: HttpAnswer, described: Json, request: string): void {
  const known = new Set([...Object.keys(described).map((name) => name.toLowerCase()), ...COMMON]);
  const unknown = Object.keys(answer.headers).filter((name) => !known.has(name));
  expect(unknown, `headers of ${request} that are not described`).toEqual([]);
  for (const [name, reference] of Object.entries(described)) {
    const header = asJson(reference);
    const value = answer.headers[name.toLowerCase()];
    if (value === undefined) {
      expect(header.required ?? false, `${name} of ${request} is required`).toBe(false);
    } else {
      expectValid(header.schema, value, `${name} of ${request}`);
    }
  }
}

function expectBody(answer: HttpAnswer, response: Json, request: string): void {
  if (response.content === undefined) {
    expect(answer.text).toBe("");
    return;
  }
  expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  if (answer.method === "HEAD") {
    expect(answer.text).toBe("");
    return;
  }
  expect(answer.headers["content-length"]).toBe(`${Buffer.byteLength(answer.text)}`);
  const media = asJson(asJson(response.content)["application/json"]);
  const body = JSON.parse(answer.text);
  expectValid(media.schema, body, `the body of ${request}`);
  if (body.error) expect(response["x-codes"], request).toContain(body.error.code);
}

function expectValid(schema: unknown, value: unknown, what: string): void {
  expect(faultsOf(schema, value), what).toEqual([]);
}
