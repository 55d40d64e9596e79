import { describe, expect, it } from "vitest";
import { useOwnPage } from "./harness-page.ts";
import { OWNER_TASKS } from "./owner-tasks.ts";

const LOOKS = [1280, 390].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
);
const OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

describe.each(LOOKS)("at $width px, $colorScheme, an owner", (look) => {
  const own = useOwnPage("/", look);
  it.each(OWNER_TASKS)("%s", async (_, task) => {
    await task(own);
    expect(await own.page.evaluate(OVERFLOW)).toBe(0);
  });
});
