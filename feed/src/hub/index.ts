export { type Hub, type HubOptions, startHub } from "./hub.ts";
export { createToken, readToken } from "./token.ts";
