// `@activity/client`: what other services call, and the way there. Browsers take `client.ts`, without the way.
export * from "./client.ts";
export {
  type CoreFailure,
  type CoreOptions,
  connectToCore,
  failureOf,
} from "./client-transport.ts";
