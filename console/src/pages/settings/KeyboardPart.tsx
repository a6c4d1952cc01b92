import { useKeyRegistry } from '../../app/Keys.tsx'
import { Switch } from './Choice.tsx'
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
