import { expect, it } from "vitest";
import { useOwnPage } from "./harness-page.ts";

const own = useOwnPage("/keys");

it("answers every path of its own, and says when there is nothing", async () => {
  await own.open("/nowhere");
  await own.page.getByRole("heading", { name: "Page not found" }).waitFor();
  await own.open("/deliveries/000000000000000");
  await own.see("This delivery no longer exists.");
});

it("is worked with the keyboard alone", async () => {
  await own.page.reload();
  await own.page.getByRole("button", { name: "Create key" }).waitFor();
  await own.page.keyboard.press("Tab");
  expect(await own.page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
  await own.page.keyboard.press("Enter");
  await own.page.keyboard.press("Tab");
  await own.page.keyboard.press("Enter");
  await own.dialog().waitFor();
  await own.page.keyboard.type("By keyboard");
  await own.page.keyboard.press("Enter");
  await own.told("You won't see it again");
  for (let tabs = 0; tabs < 10; tabs += 1) {
    await own.page.keyboard.press("Tab");
    if ((await own.page.evaluate("document.activeElement.textContent")) === "I saved it") break;
  }
  await own.page.keyboard.press("Enter");
  await own.closed();
  expect(await own.page.evaluate("document.activeElement.textContent")).toBe("Create key");
});

it("has light or dark colours as its reader chooses, also once it is opened again", async () => {
  const page = () => own.page.evaluate("getComputedStyle(document.body).backgroundColor");
  const choose = async (theme: string) => {
    await own.page.getByRole("button", { name: /^Account:/ }).click();
    await own.dialog().getByLabel(theme).check();
    await own.press("Close");
    await own.closed();
  };
  const light = await page();
  await choose("Dark");
  const dark = await page();
  expect(dark).not.toBe(light);
  await own.page.reload();
  expect(await page()).toBe(dark);
  await choose("System");
  expect(await page()).toBe(light);
});
