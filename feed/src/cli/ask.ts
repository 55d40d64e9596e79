const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const BACKSPACE = /[\b\u007f]/;

/** Asks at a terminal and shows nothing of what is typed. Returns an empty text at Ctrl-C. */
export function askHidden(question: string): Promise<string> {
  const { stdin, stderr } = process;
  // Before the question: what is typed at once would be shown.
  stdin.setRawMode(true).setEncoding("utf8").resume();
  stderr.write(question);
  return new Promise((resolve) => {
    let typed = "";
    const end = (answer: string) => {
      stdin.off("data", read).setRawMode(false).pause();
      stderr.write("\n");
      resolve(answer);
    };
    // A pasted key comes in one piece, with its line end.
    const read = (text: string) => {
      for (const letter of text) {
        if (letter === CTRL_C) return end("");
        if (letter === "\r" || letter === "\n" || letter === CTRL_D) return end(typed);
        typed = BACKSPACE.test(letter) ? typed.slice(0, -1) : typed + letter;
      }
    };
    stdin.on("data", read);
  });
}
