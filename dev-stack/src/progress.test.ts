import { PassThrough } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { createProgress } from "./progress.ts";

it("shows a long step with its detail on a terminal, and leaves one line", async () => {
  const { stream, text } = screen(true);
  await createProgress(stream).step("Fetching", async (report) => {
    report("40 %");
    await wait(800);
  });
  expect(text()).toMatch(/Fetching … \d+\.\d s, 40 %/);
  expect(text()).toMatch(/Fetching: \d+\.\d s\n$/);
});

it("says nothing of a short step, and passes its failure on", async () => {
  const { stream, text } = screen(false);
  const failure = createProgress(stream).step("Starting", () => Promise.reject(new Error("no")));
  await expect(failure).rejects.toThrow("no");
  expect(text()).toBe("");
});

function screen(isTTY: boolean) {
  const through = new PassThrough();
  const chunks: string[] = [];
  through.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  // The display only writes, and asks whether it is a terminal and how wide.
  const stream = Object.assign(through, { isTTY, columns: 80 }) as unknown as NodeJS.WriteStream;
  return { stream, text: () => chunks.join("") };
}
