import { useState } from "react";
import { RadioField } from "../common/radio-field.tsx";
import { chooseTheme, chosenTheme, type Theme } from "../common/theme.ts";
import { texts } from "../texts.ts";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

/** The choice of light colours, dark colours, or those of the system. */
export function ThemeField() {
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <RadioField
      label={texts.theme}
      value={theme}
      choices={THEMES.map((value) => ({ value, text: texts.themes[value] }))}
      onChange={(value) => {
        const chosen = THEMES.find((each) => each === value) ?? "system";
        setTheme(chosen);
        chooseTheme(chosen);
      }}
    />
  );
}
