import { useState } from "react";
import { CodeBlock } from "../common/code-block.tsx";
import { RadioField } from "../common/radio-field.tsx";
import { texts } from "../texts.ts";
import go from "./receiver-go.txt?raw";
import node from "./receiver-node.txt?raw";
import php from "./receiver-php.txt?raw";
import python from "./receiver-python.txt?raw";

const CODE = { Node: node, Python: python, Go: go, PHP: php } as const;
type Language = keyof typeof CODE;

/** Code that verifies the events of an endpoint, by language. The tests of receiver-kit run it. */
export function ReceiverCode() {
  const [language, setLanguage] = useState<Language>("Node");
  return (
    <>
      <RadioField
        label={texts.endpoints.language}
        value={language}
        choices={Object.keys(CODE).map((each) => ({ value: each, text: each }))}
        onChange={(value) => setLanguage(value as Language)}
      />
      {language === "Node" && (
        <CodeBlock label={texts.endpoints.install} text={texts.endpoints.installCommand} />
      )}
      <CodeBlock label={texts.endpoints.snippet(language)} text={CODE[language]} />
    </>
  );
}
