/** What stands before instances of a process and gives each call the next one, as a proxy does. */
export type Front = {
  add(port: number): void;
  /** Gives an instance no further calls, and waits for those that it has. */
  remove(port: number): Promise<void>;
  use<Answer>(call: (port: number) => Promise<Answer>): Promise<Answer>;
};

export function createFront(): Front {
  const callsOf = new Map<number, Set<Promise<unknown>>>();
  let turn = 0;
  return {
    add: (port) => void callsOf.set(port, new Set()),
    async remove(port) {
      const calls = callsOf.get(port) ?? [];
      callsOf.delete(port);
      await Promise.allSettled(calls);
    },
    async use(call) {
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
