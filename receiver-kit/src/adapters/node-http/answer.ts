import type { ServerResponse } from "node:http";
import type { AnswerStatus } from "../../receiver/problem.ts";

/** Answers with only a status, unless the app answered before. After 413 it closes the connection. */
export function answer(response: ServerResponse, status: AnswerStatus): void {
  if (response.headersSent) return void response.end();
  if (status === 413) response.setHeader("Connection", "close");
  response.statusCode = status;
  response.end();
}
