import { afterAll, beforeAll } from "vitest";
import { startMysql } from "../servers/mysql.ts";
import { describeStore } from "./conformance.ts";
import { OPEN_BY_CLIENT } from "./kinds.ts";

let server: Awaited<ReturnType<typeof startMysql>>;
beforeAll(async () => {
  server = await startMysql();
});
afterAll(() => server.stop());

describeStore("mysql2", {
  open: () => OPEN_BY_CLIENT.mysql2(server.url),
  url: () => server.url,
});
