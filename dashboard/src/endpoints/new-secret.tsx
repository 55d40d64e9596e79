import { Button } from "../common/button.tsx";
import { CodeBlock } from "../common/code-block.tsx";
import { DialogButtons } from "../common/dialog-buttons.tsx";
import { SecretShown } from "../common/secret-shown.tsx";
import { texts } from "../texts.ts";
import snippet from "./receiver-snippet.txt?raw";

/** A signing secret, the one time that it is shown, and what to do with it. */
export function NewSecret({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <>
      <SecretShown label={texts.endpoints.secret} secret={secret} />
      <p>{texts.endpoints.snippetHint}</p>
      <CodeBlock label={texts.endpoints.install} text={texts.endpoints.installCommand} />
      <CodeBlock label={texts.endpoints.snippet} text={snippet} />
      <DialogButtons>
        <Button look="primary" onClick={onDone}>
          {texts.done}
        </Button>
      </DialogButtons>
    </>
  );
}
