import { afterAll, beforeAll } from "vitest";
import { startPostgres } from "../servers/postgres.ts";
import { describeStore } from "./conformance.ts";
import { OPEN_BY_CLIENT } from "./kinds.ts";

let server: Awaited<ReturnType<typeof startPostgres>>;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describeStore("pg", {
  open: () => OPEN_BY_CLIENT.pg(server.url),
  url: () => server.url,
});
