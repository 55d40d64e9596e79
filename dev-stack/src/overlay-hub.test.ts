import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useFolder } from "../../test/harness/use-started.ts";
import { startOverlayHub } from "./overlay-hub.ts";
import { StackError } from "./stack-error.ts";

const dataDir = useFolder("overlay");

it("says in one sentence that a power cut emptied the token's file", async () => {
  writeFileSync(join(dataDir, "overlay-token"), "");
  const starting = startOverlayHub({ apiKey: "any", gateway: "127.0.0.1:1", dataDir });
  await expect(starting).rejects.toThrow(StackError);
  await expect(starting).rejects.toThrow(/overlay-token holds no token .*Delete the file/);
});
