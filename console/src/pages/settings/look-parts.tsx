// How somebody likes to see and use the pages, in this browser.

import { useKeyRegistry } from '../../app/Keys.tsx'
import { setTheme, type Theme, useTheme } from '../../app/theme.ts'
import { Choice, Switch } from './Choice.tsx'
import { Section } from './Section.tsx'

export function KeyboardPart() {
  const { areLettersOn, setLettersOn } = useKeyRegistry()
  return (
    <Section
      title="Keyboard"
      about={
        <>
          For this browser. <kbd>?</kbd> shows the keys of a page, if single letters are on.
        </>
      }
    >
      <Switch
        name="Single letters are keys"
        about="Switch them off if your software types by voice, or if you press keys by accident. Keys with Ctrl or ⌘ stay."
        isOn={areLettersOn}
        onChange={setLettersOn}
      />
    </Section>
  )
}

const themes: readonly { value: Theme; name: string; about: string }[] = [
  { value: 'system', name: 'System', about: 'Light or dark, as this device is.' },
  { value: 'light', name: 'Light', about: 'Always light.' },
  { value: 'dark', name: 'Dark', about: 'Always dark.' },
]

export function ThemePart() {
  const theme = useTheme()
  return (
    <Section
      title="Theme"
      about={
        <>
          For this browser. <kbd>t</kbd> switches between light and dark on every page.
        </>
      }
    >
      <Choice label="Theme" choices={themes} value={theme} onChange={setTheme} />
    </Section>
  )
}
