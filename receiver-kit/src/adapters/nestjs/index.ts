export type { Problem } from "../../receiver/problem.ts";
export type { ReceiverOptions } from "../../receiver/receiver-options.ts";
export type { NestRequest } from "./raw-body.ts";
export { createNestReceiver, type NestResponse } from "./receiver.ts";
