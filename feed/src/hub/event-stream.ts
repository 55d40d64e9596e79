import type { ServerResponse } from "node:http";
import { type Listener, MAX_UNREAD_BYTES, PING_EVERY_MS } from "./listener.ts";

const RETRY_MS = 2_000;

/** Answers with server-sent events. The first one is named `position` and has no record. */
export function openEventStream(response: ServerResponse, position: string): Listener {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const write = (text: string) => {
    response.write(text);
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  };
  write(`retry: ${RETRY_MS}\nid: ${position}\nevent: position\ndata: {}\n\n`);
  const timer = setInterval(() => write(": ping\n\n"), PING_EVERY_MS);
  response.on("close", () => clearInterval(timer));
  return {
    send: (activity) => write(`id: ${activity.id}\ndata: ${JSON.stringify(activity)}\n\n`),
    close: () => response.destroy(),
    onClose: (call) => response.on("close", call),
  };
}
