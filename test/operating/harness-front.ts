/** Gives each call to the next instance of a process, as a proxy does. */
export type Front = ReturnType<typeof createFront>;

export function createFront() {
  const callsOf = new Map<number, Set<Promise<unknown>>>();
  let turn = 0;
  return {
    add: (port: number) => void callsOf.set(port, new Set()),
    /** Gives an instance no more calls and waits for its current ones. */
    async remove(port: number) {
      const calls = callsOf.get(port) ?? [];
      callsOf.delete(port);
      await Promise.allSettled(calls);
    },
    async use<Answer>(call: (port: number) => Promise<Answer>): Promise<Answer> {
      const instances = [...callsOf];
      const [port, calls] = instances[turn++ % instances.length] ?? [];
      if (port === undefined || calls === undefined) throw new Error("no instance is there");
      const answer = call(port);
      calls.add(answer);
      try {
        return await answer;
      } finally {
        calls.delete(answer);
      }
    },
  };
}
