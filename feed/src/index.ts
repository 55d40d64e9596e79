export { file } from "./checkpoint/file.ts";
export * from "./client.ts";
