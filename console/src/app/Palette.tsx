import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { useAgents } from '../data/agents.ts'
import { useClient } from '../data/server.tsx'
import { useInbox } from '../data/waiting.ts'
import { Dialog } from '../parts/Dialog.tsx'
import { counted, sessionTitle } from '../words.ts'
import { keyText, useKeyRegistry } from './Keys.tsx'
import styles from './Palette.module.css'
import { settingsSections } from './settings-sections.ts'

interface Entry {
  id: string
  name: string
  /** What it is, or its key. */
  hint: string
  run: () => void
}

/** Of each kind. More of them are on their pages. */
const MOST = 6
const SETTLE_MS = 200

/** Everything that one can open or do, found by typing: commands, agents, what waits, settings, and sessions on the server. `typed`: what was typed before it was there. */
export default function Palette({ typed, onClose }: { typed: { text: string }; onClose: () => void }) {
  const [text, setText] = useState(typed.text)
  useEffect(() => {
    typed.text = ''
  }, [typed])
  const [chosen, setChosen] = useState(0)
  const listId = useId()
  const { entries, isSearching } = useEntries(text.trim())
  const at = Math.min(chosen, Math.max(0, entries.length - 1))

  function run(index: number): void {
    onClose()
    // The palette gives the focus back first, so that the command finds the page as it was.
    setTimeout(() => entries[index]?.run())
  }
  function onKeyDown(event: KeyboardEvent): void {
    // While letters are being composed, these keys choose among them.
    if (event.nativeEvent.isComposing) return
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.key === 'Enter') run(at)
    else if (step !== 0 && entries.length > 0) setChosen((at + step + entries.length) % entries.length)
    else return
    event.preventDefault()
  }
  useEffect(() => {
    document.getElementById(`${listId}-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [listId, at])
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        className={styles.input}
        role="combobox"
        aria-label="Find a page, a session, an agent or a command"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={entries.length > 0 ? `${listId}-${at}` : undefined}
        placeholder="Find a page, a session, an agent …"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={listId} role="listbox" aria-label="Found" className={styles.list}>
        {entries.map(({ id, name, hint }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          <div
            key={id}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === at}
            className={styles.entry}
            onClick={() => run(index)}
            onPointerMove={() => setChosen(index)}
          >
            <bdi>{name}</bdi>
            {hint !== '' && <kbd>{hint}</kbd>}
          </div>
        ))}
      </div>
      <p className="unseen" role="status">
        {isSearching ? 'Searching sessions' : `${counted(entries.length, 'entry', 'entries')} found`}
      </p>
    </Dialog>
  )
}

function useEntries(text: string): { entries: Entry[]; isSearching: boolean } {
  const { all } = useKeyRegistry()
  const [, go] = useLocation()
  const client = useClient()
  const inbox = useInbox()
  const agents = useAgents()
  const asked = useSettledText(text)
  const sessions = useQuery({
    enabled: asked.length > 1,
    queryKey: ['sessions', 'palette', asked],
    queryFn: ({ signal }) => client.search(asked, { owner: '*', limit: MOST, signal }),
  })
  const isSearching = text.length > 1 && (asked !== text || sessions.isPending)
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = (...texts: string[]) => words.every((word) => texts.join(' ').toLowerCase().includes(word))
  const page = (hint: string, name: string, path: string, id: string): Entry => ({
    ...{ id: `${hint} ${id}`, name, hint },
    run: () => go(`${path}/${encodeURIComponent(id)}`),
  })

  const commands = all()
    .filter(({ keys, name, group }) => keys !== 'mod+k' && fits(group, name))
    .map(({ name, keys, run }): Entry => ({ id: `command ${name}`, name, hint: keyText(keys), run }))
  // Without a word there would be very many.
  if (text === '') return { entries: commands, isSearching }
  const found = (sessions.data?.results ?? []).map((one) =>
    page('Session', sessionTitle(one), one.kind === 'chat' ? '/chat' : '/sessions', one.session_id),
  )
  const open = (inbox.data?.items ?? [])
    .filter(({ title, agent, tool }) => fits(title, agent, tool ?? '', 'open item'))
    .map(({ id, title }) => page('Waits', title, '/inbox', id))
  const known = (agents.data ?? [])
    .filter(({ name, description }) => fits(name, description, 'agent'))
    .map(({ name }) => page('Agent', name, '/agents', name))
  const settings = settingsSections
    .filter(({ name }) => fits(name, 'settings'))
    .map(({ id, name }) => page('Settings', name, '/settings', id))
  const everywhere: Entry = {
    id: 'search',
    name: `Search all sessions for “${text}”`,
    hint: '',
    run: () => go(`/sessions?q=${encodeURIComponent(text)}`),
  }
  const lists = [commands, open, known, settings, asked === text ? found : []]
  return { entries: [...lists.flatMap((list) => list.slice(0, MOST)), everywhere], isSearching }
}

/** The text once somebody has stopped typing for a moment. */
function useSettledText(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
