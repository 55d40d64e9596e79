import { describe, expect, it } from "vitest";
import { createAnswerStartReader } from "./answer-start.ts";

const FINAL = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/** Returns a reader's decision, and the number of chunks that it took. */
function readAll(chunks: readonly string[]) {
  const read = createAnswerStartReader();
  for (const [index, chunk] of chunks.entries()) {
    const start = read(Buffer.from(chunk, "latin1"));
    if (start.kind !== "undecided") return { ...start, chunks: index + 1 };
  }
  return undefined;
}

const interim = (bytes: number) => {
  const head = "HTTP/1.1 103 E\r\nlink: ";
  return `${head}${"x".repeat(bytes - head.length - 4)}\r\n\r\n`;
};

describe("ADR 0027: the status is read as soon as it is there", () => {
  it.each([
    ["HTTP/1.1 200 OK\r\n", 200],
    ["HTTP/1.0 500\r\n", 500],
    ["HTTP/1.1 101 S\r\n", 101],
    ["HTTP/1.1 999 X", 999],
  ])("%j", (text, status) => {
    const answer = Buffer.from(text.slice(0, 13));
    expect(readAll([...text])).toEqual({ kind: "status", status, answer, chunks: 13 });
  });

  it.each(["S", "\u0000", "HTTP/1.1 2x0 ", "HTTP/1.1 099 ", "HTTPS/1.1 200", "RTSP/1.0 200 OK"])(
    "%j is no HTTP",
    (text) => expect(readAll([text])).toEqual({ kind: "not_http", chunks: 1 }),
  );
});

describe("ADR 0027: interim answers are dropped, up to 16 of them and 16 KiB", () => {
  it("in chunks of any size", () => {
    // Two of the heads follow empty lines. The lines of one head end in LF.
    const text = `\r\n${interim(40)}HTTP/1.1 100 Continue\n\n\n${FINAL}`;
    for (let size = 1; size <= text.length; size++) {
      const chunks = text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
      const start = readAll(chunks);
      if (start?.kind !== "status") throw new Error(`undecided at ${size}`);
      const rest = chunks.slice(start.chunks).join("");
      expect(start.status).toBe(200);
      expect(start.answer.toString("latin1") + rest).toBe(FINAL);
    }
  });

  it.each([
    ["16", 16, 40, "status"],
    ["17", 17, 40, "too_much_interim"],
    ["16 KiB", 16, 1_024, "status"],
    ["a byte more than 16 KiB", 1, 16 * 1_024 + 1, "too_much_interim"],
  ])("%s", (_what, count, bytes, kind) => {
    const text = interim(bytes).repeat(count) + FINAL;
    expect(readAll([text])?.kind).toBe(kind);
    expect(readAll([...text])?.kind).toBe(kind);
  });
});
