import { type KeyboardEvent, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { Dialog } from '../parts/Dialog.tsx'
import { keyText, useKeyRegistry } from './Keys.tsx'
import styles from './Palette.module.css'

/** Everything that a key can do here, found by typing, and a search through all sessions. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const { all } = useKeyRegistry()
  const [, go] = useLocation()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const listId = useId()
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const commands = all()
    .filter(({ keys }) => keys !== 'mod+k')
    .filter(({ name, group }) => words.every((word) => `${group} ${name}`.toLowerCase().includes(word)))
    .map(({ name, keys, run }) => ({ name, hint: keyText(keys), run }))
  const search =
    text.trim() === ''
      ? []
      : [
          {
            name: `Search all sessions for “${text.trim()}”`,
            hint: '',
            run: () => go(`/sessions?q=${encodeURIComponent(text.trim())}`),
          },
        ]
  const entries = [...commands, ...search]
  const at = Math.min(chosen, Math.max(0, entries.length - 1))

  function run(index: number): void {
    onClose()
    // The palette gives the focus back first, so that the command finds the page as it was.
    setTimeout(() => entries[index]?.run())
  }
  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.key === 'Enter') run(at)
    else if (step !== 0 && entries.length > 0) setChosen((at + step + entries.length) % entries.length)
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        className={styles.input}
        role="combobox"
        aria-label="Find a page or a command"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={entries.length > 0 ? `${listId}-${at}` : undefined}
        placeholder="Type a page, a command or words to search for"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} role="listbox" aria-label="Found" className={styles.list}>
        {entries.map(({ name, hint }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          <div
            key={name}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === at}
            className={styles.entry}
            onClick={() => run(index)}
            onPointerMove={() => setChosen(index)}
          >
            <span>{name}</span>
            {hint !== '' && <kbd>{hint}</kbd>}
          </div>
        ))}
      </div>
    </Dialog>
  )
}
