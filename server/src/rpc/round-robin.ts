/** Tasks that begin in one turn of the event loop; what came in meanwhile goes between them and the next ones. */
const A_TURN = 4;

/** Begins something, or tells that there is nothing left to begin. */
type Task = () => boolean;

/** Begins tasks a few at a time, one of each owner in turn. */
export type RoundRobin = { add(owner: string, task: Task): void };

/** Creates a queue without an end: what may be added is limited by who adds. */
export function createRoundRobin(): RoundRobin {
  /** By owner, the next one first. */
  const waiting = new Map<string, Task[]>();

  function beginSome(): void {
    for (let begun = 0; begun < A_TURN; ) {
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
