import { setTheme, type Theme, useTheme } from '../../app/theme.ts'
import { Choice } from './Choice.tsx'
import { Section } from './Section.tsx'

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
