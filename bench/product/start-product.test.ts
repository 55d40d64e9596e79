import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import type { Bench } from "../run/bench.ts";
import { type ProductGround, startProductProcess } from "./start-product.ts";

const PACKAGE = new URL("../../package.json", import.meta.url);

it.skipIf(process.platform !== "linux")(
  "runs the product with the flags and variables of `npm start`",
  async () => {
    const bench = { closeLater: () => undefined } as Partial<Bench> as Bench;
    const { pid } = startProductProcess(bench, {} as ProductGround);
    expect(pid).toBeGreaterThan(0);
    try {
      const wordsOf = async (file: string) =>
        (await readFile(`/proc/${pid}/${file}`, "utf8")).split("\0");
      const used = [...(await wordsOf("environ")), ...(await wordsOf("cmdline"))];
      const { start } = JSON.parse(await readFile(PACKAGE, "utf8")).scripts;
      const wanted = start.split(" ").filter((word: string) => /^(--|[A-Z_]+=)/.test(word));
      expect(wanted).not.toEqual([]);
      expect(used).toEqual(expect.arrayContaining(wanted));
    } finally {
      process.kill(pid, "SIGKILL");
    }
  },
);
