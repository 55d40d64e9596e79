/** What a program of the project gets of this process's variables: where programs are, and where Node keeps compiled code. */
export function baseEnv(): { PATH: string | undefined; NODE_COMPILE_CACHE: string | undefined } {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}
