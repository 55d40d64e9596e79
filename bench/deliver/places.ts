/** The stack where nothing sleeps, and the one beside sleepers. */
export const [ALONE, BESIDE] = ["alone", "beside sleepers"];
/** What is measured once, behind the rounds. */
export const [COUNTING, WRITING, STEADY] = ["counting", "writing", "steady"];
