import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { openOutput } from "./process-output.ts";

const MEBIBYTE = "x".repeat(1024 * 1024);

it("drops texts while nobody reads, and tells how many", async () => {
  const stream = new PassThrough();
  const write = openOutput(stream as unknown as NodeJS.WriteStream);
  for (let text = 0; text < 30; text++) write(MEBIBYTE);
  // Allows 12 MiB, because the limit of 8 MiB does not count the bytes that the pipe holds.
  const waiting = stream.writableLength + stream.readableLength;
  expect(waiting).toBeLessThan(12 * MEBIBYTE.length);
  stream.resume();
  stream.setEncoding("utf8");
  let read = "";
  stream.on("data", (chunk) => {
    read += chunk;
  });
  await expect.poll(() => stream.writableLength + stream.readableLength).toBe(0);
  const dropped = 30 - read.length / MEBIBYTE.length;
  write("\n");
  const line = `"message":"output was lost, because nobody read it","texts":${dropped}}`;
  await expect.poll(() => read.slice(-500)).toContain(line);
});

it("outlives a closed pipe", () => {
  const stream = new PassThrough();
  const write = openOutput(stream as unknown as NodeJS.WriteStream);
  stream.emit("error", new Error("write EPIPE"));
  write("text");
  expect(stream.read()?.toString()).toBe("text");
});
