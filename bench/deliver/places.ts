/** The stack without sleepers, and the stack with them. */
export const [ALONE, BESIDE] = ["alone", "beside sleepers"];
/** The cases that run once, after the rounds. */
export const [COUNTING, WRITING, STEADY] = ["counting", "writing", "steady"];
