/** The variables that programs of the project inherit: PATH, and the folder of Node's compile cache. */
export function baseEnv(): { PATH: string | undefined; NODE_COMPILE_CACHE: string | undefined } {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}
