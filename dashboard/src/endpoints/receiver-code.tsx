import { useState } from "react";
import { CodeBlock } from "../common/code-block.tsx";
import { RadioField } from "../common/radio-field.tsx";
import { texts } from "../texts.ts";
import go from "./receiver-go.txt?raw";
import node from "./receiver-node.txt?raw";
import python from "./receiver-python.txt?raw";

const LANGUAGES = ["Node", "Python", "Go", "PHP"] as const;
const CODE: Readonly<Record<string, string | undefined>> = { Node: node, Python: python, Go: go };

/** How to verify what an endpoint is sent, by language: code that the kit's tests run, and words where they run none. */
export function ReceiverCode() {
  const [language, setLanguage] = useState<string>(LANGUAGES[0]);
  const code = CODE[language];
  return (
    <>
      <RadioField
        label={texts.endpoints.language}
        value={language}
        choices={LANGUAGES.map((each) => ({ value: each, text: each }))}
        onChange={setLanguage}
      />
      {language === "Node" && (
        <CodeBlock label={texts.endpoints.install} text={texts.endpoints.installCommand} />
      )}
      {code !== undefined && <CodeBlock label={texts.endpoints.snippet(language)} text={code} />}
      {language === "PHP" && <p>{texts.endpoints.php}</p>}
    </>
  );
}
