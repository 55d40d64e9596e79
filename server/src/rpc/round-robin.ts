/** How many tasks begin in one turn of the event loop. Node handles other events before the next tasks begin. */
const PER_TURN = 4;
/** The most tasks that wait. Each waiting stream takes 9 KB. */
const MAX_WAITING = 4_096;

type Task = {
  /** Begins work. Returns false if there is nothing left to begin. */
  begin(): boolean;
  /** Called instead if too many tasks wait. */
  refuse(): void;
};

/** Begins a few tasks at a time, round-robin by owner. */
export type RoundRobin = { add(owner: string, task: Task): void };

/** Creates a bounded queue. Beyond the limit, the owner with most tasks loses its last one. */
export function createRoundRobin(): RoundRobin {
  /** Tasks by owner; the next owner comes first. */
  const waiting = new Map<string, Task[]>();
  let count = 0;

  function beginSome(): void {
    for (let begun = 0; begun < PER_TURN; ) {
      const [next] = waiting;
      if (next === undefined) return;
      const [owner, tasks] = next;
      const task = tasks.shift();
      if (task) count--;
      waiting.delete(owner);
      if (tasks.length > 0) waiting.set(owner, tasks);
      if (task?.begin()) begun += 1;
    }
    if (waiting.size > 0) setImmediate(beginSome);
  }

  return {
    add(owner, task) {
      if (waiting.size === 0) setImmediate(beginSome);
      const own = waiting.get(owner);
      if (own) own.push(task);
      else waiting.set(owner, [task]);
      if (++count <= MAX_WAITING) return;
      const [first = [], ...others] = waiting.values();
      const most = others.reduce((one, other) => (other.length > one.length ? other : one), first);
      count--;
      most.pop()?.refuse();
    },
  };
}
