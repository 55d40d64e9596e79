export type { Problem } from "../../receiver/problem.ts";
export type { ReceiverOptions } from "../../receiver/receiver-options.ts";
export type { ExpressRequest } from "./raw-body.ts";
export { createExpressReceiver } from "./receiver.ts";
