import { MeService } from "@activity/proto";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { createLocalTransport } from "./local-transport.ts";
import { rateWindowKey } from "./rate-limit-headers.ts";
import { register } from "./registered-service.ts";

it("§4 a call that was counted tells the rest of the limit, even if it ends at its deadline", async () => {
  const count: Interceptor = (next) => (request) => {
    request.contextValues.set(rateWindowKey, { remaining: 119, resetSeconds: 60 });
    return next(request);
  };
  const getMe = () => new Promise<never>(() => undefined);
  const services = [register(MeService, { getMe }, { access: "reader" })];
  const client = createClient(MeService, createLocalTransport(services, [count]));
  const late = await client.getMe({}, { timeoutMs: 10 }).catch((error) => error);
  expect(late.metadata.get("ratelimit")).toBe('"account";r=119;t=60');
});
