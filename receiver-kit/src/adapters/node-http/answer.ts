import type { ServerResponse } from "node:http";
import type { AnswerStatus } from "../../receiver/problem.ts";

/** Answers with only a status. After a refused body the connection is closed. */
export function answer(response: ServerResponse, status: AnswerStatus): void {
  if (status === 413) response.setHeader("Connection", "close");
  response.statusCode = status;
  response.end();
}
