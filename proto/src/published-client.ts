// `@activity/client`: the calls for other services, and the transport to the core. Browsers use `client.ts`, which has
// no transport.
export * from "./client.ts";
export {
  type CoreFailure,
  type CoreOptions,
  connectToCore,
  failureOf,
} from "./client-transport.ts";
