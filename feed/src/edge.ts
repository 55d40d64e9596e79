/** The package's entry for runtimes without files: all but `file`, which throws. */
export { file } from "./checkpoint/no-file.ts";
export * from "./client.ts";
