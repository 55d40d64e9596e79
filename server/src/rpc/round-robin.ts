/** Tasks that begin in one turn of the event loop. Other events are handled before the next ones. */
const PER_TURN = 4;

/** Begins work. Returns false if there is nothing left to begin. */
type Task = () => boolean;

/** Begins a few tasks at a time, round-robin by owner. */
export type RoundRobin = { add(owner: string, task: Task): void };

/** Creates an unbounded queue. Its callers limit what they add. */
export function createRoundRobin(): RoundRobin {
  /** Tasks by owner; the next owner comes first. */
  const waiting = new Map<string, Task[]>();

  function beginSome(): void {
    for (let begun = 0; begun < PER_TURN; ) {
      const [next] = waiting;
      if (next === undefined) return;
      const [owner, tasks] = next;
      const task = tasks.shift();
      waiting.delete(owner);
      if (tasks.length > 0) waiting.set(owner, tasks);
      if (task?.()) begun += 1;
    }
    if (waiting.size > 0) setImmediate(beginSome);
  }

  return {
    add(owner, task) {
      if (waiting.size === 0) setImmediate(beginSome);
      const own = waiting.get(owner);
      if (own) own.push(task);
      else waiting.set(owner, [task]);
    },
  };
}
