import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPaidDonation, createPlatformEvent, createReader } from "../harness/builders.ts";
import { useTestStack } from "../harness/stack.ts";

const FOLDER = fileURLToPath(new URL("./openapi-client", import.meta.url));
const INTERFACE = new URL("../../openapi.yaml", import.meta.url);
const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

const stack = useTestStack();
beforeAll(async () => {
  mkdirSync(`${FOLDER}/generated`, { recursive: true });
  writeFileSync(`${FOLDER}/generated/api.ts`, astToString(await openapiTS(INTERFACE)));
});
afterAll(() => rmSync(`${FOLDER}/generated`, { recursive: true }));

describe("a client generated from openapi.yaml", () => {
  it("compiles strictly, with types that refuse an invalid parameter", () => {
    const strict = ["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig"];
    const modules = ["--module", "nodenext", "--target", "es2022", "--allowImportingTsExtensions"];
    const args = [TSC, ...strict, ...modules, `${FOLDER}/client.ts`];
    execFileSync(process.execPath, args, { stdio: "pipe" });
  });

  it("reads the profile and the whole feed, and gets the code of an invalid parameter", async () => {
    const { accountId, apiKey } = await createReader(stack);
    const { recordId } = await createPaidDonation(stack, accountId);
    for (let index = 0; index < 6; index++) await createPlatformEvent(stack, accountId);
    const { createActivityClient } = await import(`${FOLDER}/client.ts`);
    const client = createActivityClient(`http://127.0.0.1:${stack.gatewayPort}/api/v1`, apiKey);
    expect((await client.readMe()).id).toBe(accountId);
    const activities = await client.readAll(2);
    expect(activities).toHaveLength(7);
    expect(activities[0]?.id).toBe(`don_${recordId}`);
    expect((await client.readSideways()).error?.error.code).toBe("invalid_parameter");
  });
});
