import { describe, expect, it } from "vitest";
import { createWindow } from "./window.ts";

describe("a window", () => {
  it("lets in as many as it has capacity for, and the next when one leaves", async () => {
    const window = createWindow(2);
    const entered: boolean[] = [];
    const enter = async () => entered.push(await window.enter());
    const all = [enter(), enter(), enter()];
    await Promise.all(all.slice(0, 2));
    expect(entered).toEqual([true, true]);
    window.leave();
    await all[2];
    expect(entered).toHaveLength(3);
  });

  it("answers a waiting caller with false when it closes", async () => {
    const window = createWindow(0);
    const waiting = window.enter();
    window.close();
    expect(await waiting).toBe(false);
    expect(await window.enter()).toBe(false);
  });
});
