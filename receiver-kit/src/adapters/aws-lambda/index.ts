export type { Problem } from "../../receiver/problem.ts";
export type { ReceiverOptions } from "../../receiver/receiver-options.ts";
export { createLambdaReceiver, type LambdaRequest, type LambdaResponse } from "./receiver.ts";
