import { createContextValues, type UnaryRequest } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { authenticatedAtKey, type Caller, callerKey } from "../admission/caller.ts";
import { authenticateAgain } from "./authenticate.ts";

const SERVICE = { kind: "service" } as Caller;
const SESSION = { kind: "session" } as Caller;
const API_KEY = { kind: "api_key" } as Caller;

it.each([
  ["a service whose body is late", SERVICE, 2_000, 1],
  ["a session whose body is late", SESSION, 2_000, 1],
  ["a service whose body comes at once", SERVICE, 0, 0],
  ["a session whose body comes at once", SESSION, 0, 0],
  ["an API key, which counts each time", API_KEY, 2_000, 0],
  ["a client address, which counts each time", undefined, 2_000, 0],
])(
  "authenticates a unary call again if its body is late and nothing is counted: %s",
  async (_, caller, ageMs, times) => {
    let count = 0;
    const contextValues = createContextValues()
      .set(callerKey, caller)
      .set(authenticatedAtKey, performance.now() - ageMs);
    const call = authenticateAgain(async () => void count++)(() => Promise.resolve({} as never));
    await call({ stream: false, contextValues } as UnaryRequest);
    expect(count).toBe(times);
  },
);
