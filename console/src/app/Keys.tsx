// Keys. A page says which keys it takes with `useKeys`; the shell takes the ones that work everywhere. Single letters can be switched
// off in the settings, for people whose software types them by accident. A held key counts once, and nothing happens while one types.

import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { siteStorage } from '../browser-storage.ts'

export interface KeyAction {
  /** `j`, `?`, `Enter`, `g i` (one after the other), `mod+k` (⌘ on a Mac, Ctrl elsewhere). Empty: only the palette has it. */
  keys: string
  /** What it does, for the help. */
  name: string
  group: string
  run: () => void
  /** Also while one types in a field: for keys with `mod` only. */
  isGlobal?: boolean
}

interface KeyRegistry {
  add(actions: () => readonly KeyAction[]): () => void
  all(): KeyAction[]
  areLettersOn: boolean
  setLettersOn(on: boolean): void
}

const RegistryContext = createContext<KeyRegistry | null>(null)
const OFF = 'quarterdeck.keys-off'
const SEQUENCE_MS = 1_200

export const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)
/** `⌘K`, or `Ctrl K`. */
export const keyText = (keys: string): string =>
  keys
    .replace('mod+', isMac ? '⌘' : 'Ctrl ')
    .replace('Enter', '↵')
    .replace(/(⌘|Ctrl )([a-z])$/, (_, mod: string, letter: string) => mod + letter.toUpperCase())

export function Keys({ children }: { children: ReactNode }) {
  const sources = useRef(new Set<() => readonly KeyAction[]>())
  const [areLettersOn, setOn] = useState(() => siteStorage.getItem(OFF) === null)
  const registry = useMemo<KeyRegistry>(
    () => ({
      add(actions) {
        sources.current.add(actions)
        return () => void sources.current.delete(actions)
      },
      // What was added last is nearest to the person: its keys win.
      all: () => [...sources.current].reverse().flatMap((actions) => actions()),
      areLettersOn,
      setLettersOn(on) {
        if (on) siteStorage.removeItem(OFF)
        else siteStorage.setItem(OFF, '1')
        setOn(on)
      },
    }),
    [areLettersOn],
  )
  useEffect(() => {
    document.documentElement.toggleAttribute('data-letters-off', !areLettersOn)
    let first: { key: string; at: number } | null = null
    function onKey(event: KeyboardEvent): void {
      if (event.repeat || event.isComposing || event.altKey) return
      const mod = isMac ? event.metaKey : event.ctrlKey
      if ((event.metaKey || event.ctrlKey) && !mod) return
      const key =
        (mod ? 'mod+' : '') + (event.key.length === 1 && !event.shiftKey ? event.key.toLowerCase() : event.key)
      const typing = isTyping(event.target)
      if (document.querySelector('dialog[open]') !== null && !mod) return
      if (!mod && !areLettersOn && event.key.length === 1) return
      const pair = first !== null && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${key}` : null
      const actions = registry.all().filter(({ isGlobal }) => isGlobal || !typing)
      const second = actions.find(({ keys }) => keys === pair)
      const action = second ?? actions.find(({ keys }) => keys === key)
      first = second === undefined && !typing && !mod ? { key, at: event.timeStamp } : null
      if (action === undefined || event.defaultPrevented) return
      event.preventDefault()
      action.run()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [registry, areLettersOn])
  return <RegistryContext value={registry}>{children}</RegistryContext>
}

/** One does not type into a box that one ticks. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  !(target instanceof HTMLInputElement && target.type === 'checkbox') &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.shadowRoot !== null)

export function useKeyRegistry(): KeyRegistry {
  const registry = useContext(RegistryContext)
  if (registry === null) throw new Error('keys work inside <Keys>')
  return registry
}

/** Keys that work while the component is shown. */
export function useKeys(actions: readonly KeyAction[]): void {
  const { add } = useKeyRegistry()
  const current = useRef(actions)
  current.current = actions
  useEffect(() => add(() => current.current), [add])
}
