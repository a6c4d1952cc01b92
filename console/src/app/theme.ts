import { useSyncExternalStore } from 'react'
import { siteStorage } from '../browser-storage.ts'

/** `system` follows the device. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'quarterdeck.theme'
const DARK = '(prefers-color-scheme: dark)'
const listeners = new Set<() => void>()
let theme: Theme = read()

function read(): Theme {
  const kept = siteStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

const shownTheme = (): 'light' | 'dark' => (theme === 'system' ? (matchMedia(DARK).matches ? 'dark' : 'light') : theme)

function applyTheme(): void {
  document.documentElement.dataset.theme = shownTheme()
  for (const listener of listeners) listener()
}

/** Shows the theme, and follows the device and the other tabs. The page does this once, at its start. */
export function beginTheme(): void {
  applyTheme()
  matchMedia(DARK).addEventListener('change', applyTheme)
  window.addEventListener('storage', ({ key }) => {
    if (key !== KEY) return
    theme = read()
    applyTheme()
  })
}

export function setTheme(next: Theme): void {
  theme = next
  if (next === 'system') siteStorage.removeItem(KEY)
  else siteStorage.setItem(KEY, next)
  applyTheme()
}

/** The other one of light and dark. */
export const flipTheme = (): void => setTheme(shownTheme() === 'dark' ? 'light' : 'dark')

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => theme)

/** What is on the screen, for what cannot be coloured by a style sheet. */
export const useShownTheme = (): 'light' | 'dark' => useSyncExternalStore(subscribe, shownTheme)
