import { expect, it } from "vitest";
import { useOwnPage } from "./harness-page.ts";

const own = useOwnPage("/keys");

it("an unknown path and an unknown delivery get a page that says so", async () => {
  await own.open("/nowhere");
  await own.page.getByRole("heading", { name: "Page not found" }).waitFor();
  await own.open("/deliveries/000000000000000");
  await own.see("This delivery no longer exists.");
});

it("a key can be created with the keyboard alone", async () => {
  await own.page.reload();
  await own.button("Create key").waitFor();
  const { keyboard } = own.page;
  const focused = () => own.page.evaluate("document.activeElement.textContent");
  await keyboard.press("Tab");
  expect(await focused()).toBe("Skip to content");
  for (const key of ["Enter", "Tab", "Enter"]) await keyboard.press(key);
  await own.dialog().waitFor();
  await keyboard.type("By keyboard");
  await keyboard.press("Enter");
  await own.told("You won't see it again");
  for (let tabs = 0; tabs < 10; tabs += 1) {
    await keyboard.press("Tab");
    if ((await focused()) === "I saved it") break;
  }
  await keyboard.press("Enter");
  await own.closed();
  expect(await focused()).toBe("Create key");
});

it("the reader chooses light or dark colours, which a reload keeps", async () => {
  const colour = () => own.page.evaluate("getComputedStyle(document.body).backgroundColor");
  const choose = async (theme: string) => {
    await own.page.getByRole("button", { name: /^Account:/ }).click();
    await own.dialog().getByLabel(theme).check();
    await own.press("Close");
    await own.closed();
  };
  const light = await colour();
  await choose("Dark");
  const dark = await colour();
  expect(dark).not.toBe(light);
  await own.page.reload();
  expect(await colour()).toBe(dark);
  await choose("System");
  expect(await colour()).toBe(light);
});
