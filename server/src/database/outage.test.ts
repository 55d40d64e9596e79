import { once } from "node:events";
import net from "node:net";
import mysql from "mysql2";
import { expect, it } from "vitest";
import { isOutage } from "./outage.ts";

it("takes every failure of a connection that is lost for an outage, those without a code too", async () => {
  const server = net.createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  const connection = mysql.createConnection({ host: "127.0.0.1", port });
  connection.on("error", () => undefined);
  const failure = () => new Promise((resolve) => connection.query("SELECT 1", resolve));
  expect(isOutage(await failure())).toBe(true);
  const later = await failure();
  expect(later).not.toHaveProperty("code");
  expect(isOutage(later)).toBe(true);
  server.close();
});

it("takes a wrong statement for none", () => {
  const wrong = Object.assign(new Error(), { code: "ER_PARSE_ERROR", sqlState: "42000" });
  expect(isOutage(wrong)).toBe(false);
});
