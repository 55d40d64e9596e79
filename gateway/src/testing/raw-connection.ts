import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";

/** One answer as it came over the wire. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly rest: string;
};

/** Sends text over a new connection. Returns everything that comes back until the connection is closed. */
export function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1", () => socket.write(text, "latin1"));
  return readText(socket);
}

/** Parses the first answer. `rest` is its body and everything after it. */
export function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(statusLine.split(" ")[1]), headers, rest: text.slice(end + 4) };
}
