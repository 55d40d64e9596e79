const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const BACKSPACE = /[\b\u007f]/;

/**
 * Asks at a terminal without showing the typed text. Calls `interrupt` at Ctrl-C. `interrupt` must abort the signal.
 * Returns an empty text when the signal aborts.
 */
export function askHidden(
  question: string,
  interrupt: () => void,
  signal: AbortSignal,
): Promise<string> {
  const { stdin, stderr } = process;
  // Raw mode is set before the question, so that text typed at once is not shown either.
  stdin.setRawMode(true).setEncoding("utf8").resume();
  stderr.write(question);
  return new Promise((resolve) => {
    let typed = "";
    const end = (answer: string) => {
      stdin.off("data", read).setRawMode(false).pause();
      stderr.write("\n");
      resolve(answer);
    };
    // A pasted API key comes as one text with its line end, so this reads letter by letter.
    const read = (text: string) => {
      for (const letter of text) {
        // `interrupt` aborts the signal, which ends the question.
        if (letter === CTRL_C) return interrupt();
        if (letter === "\r" || letter === "\n" || letter === CTRL_D) return end(typed);
        typed = BACKSPACE.test(letter) ? typed.slice(0, -1) : typed + letter;
      }
    };
    stdin.on("data", read);
    signal.addEventListener("abort", () => end(""), { once: true });
  });
}
