import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";

/** A receiver's answer. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Posts a body with its length, as the sender does. */
export function post(url: string, headers: OutgoingHttpHeaders, body: Buffer): Promise<Answer> {
  return postChunks(url, { ...headers, "Content-Length": body.length }, [body]);
}

/** Posts chunks without a length, unless `headers` has one. */
export async function postChunks(
  url: string,
  headers: OutgoingHttpHeaders,
  chunks: Iterable<Buffer>,
): Promise<Answer> {
  const outgoing = request(url, { method: "POST", headers, agent: false });
  let isAnswered = false;
  const answering = once(outgoing, "response").then(([response]) => {
    isAnswered = true;
    return readAnswer(response as IncomingMessage);
  });
  outgoing.on("error", () => {}); // The receiver cuts a refused upload after its answer.
  try {
    for (const chunk of chunks) {
      if (isAnswered) break;
      if (!outgoing.write(chunk)) await Promise.race([once(outgoing, "drain"), answering]);
      await new Promise(setImmediate);
    }
    outgoing.end();
    return await answering;
  } finally {
    outgoing.destroy();
  }
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch {
    // The connection may end with the answer. Only the status matters then.
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() };
}
