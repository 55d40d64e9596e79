export type { Problem } from "../../receiver/problem.ts";
export type { ReceiverOptions } from "../../receiver/receiver-options.ts";
export { createFastifyReceiver, type FastifyReceiverOptions } from "./receiver.ts";
