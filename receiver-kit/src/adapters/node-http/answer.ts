import type { ServerResponse } from "node:http";
import type { AnswerStatus } from "../../receiver/problem.ts";

/** Answers with a status and nothing else; after a refused body the connection ends. */
export function answer(response: ServerResponse, status: AnswerStatus): void {
  if (status === 413) response.setHeader("Connection", "close");
  response.statusCode = status;
  response.end();
}
