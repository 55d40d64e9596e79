import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const FOLDER = fileURLToPath(new URL("../../../dashboard/screenshots", import.meta.url));

/** With SCREENSHOTS=1, takes a picture of a page without its notice. Its name gets the width and the colours. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  const width = page.viewportSize()?.width ?? 0;
  const isDark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
  await page.evaluate("document.querySelector('main > section[aria-label]')?.remove()");
  const path = join(FOLDER, `${name}-${width}-${isDark ? "dark" : "light"}.png`);
  await page.screenshot({ path, fullPage: width < 600 });
}
