import process from "node:process";
import * as kit from "receiver-kit";
import { receive } from "./quick.mjs";

// The example reads the secret at each delivery.
const secret = `whsec_${"0".repeat(64)}`;
process.env.WEBHOOK_SECRET = secret;
console.log = () => {};

const text = '{"id":"wev_1","type":"x","created_at":"","test":true,"data":{}}';
const body = new TextEncoder().encode(text);
const timestampSeconds = Math.floor(Date.now() / 1000);
const headers = await kit.signedHeaders({ secret, eventId: "wev_1", body: text, timestampSeconds });
const statuses = [
  await receive(body, headers),
  await receive(new TextEncoder().encode("{}"), headers),
];
if (statuses.join() !== "204,400") throw new Error(`${statuses} instead of 204,400`);
process.stdout.write("verified one delivery, refused a forged one\n");
