import { expect, it } from "vitest";
import { welcome } from "./welcome.ts";

it.each([
  ["127.0.0.1:8080", false],
  ["127.0.0.1:8081", true],
])(
  "names the baseUrl for the feed client only where its default is wrong: %s",
  (gateway, isNamed) => {
    const others = { core: "", dashboard: undefined, overlay: "", logPath: "" };
    const text = welcome({ gateway, ...others }, "key");
    expect(text.includes(`baseUrl: "http://${gateway}/api/v1"`)).toBe(isNamed);
  },
);
