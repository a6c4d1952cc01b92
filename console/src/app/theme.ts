import { useSyncExternalStore } from 'react'
import { siteStorage } from '../browser-storage.ts'

/** `system` follows the device. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'quarterdeck.theme'
const isDark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()
let theme: Theme = read()

function read(): Theme {
  const kept = siteStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

const shownTheme = (): 'light' | 'dark' => (theme === 'system' ? (isDark.matches ? 'dark' : 'light') : theme)

export function applyTheme(): void {
  document.documentElement.dataset.theme = shownTheme()
  for (const listener of listeners) listener()
}

export function setTheme(next: Theme): void {
  theme = next
  if (next === 'system') siteStorage.removeItem(KEY)
  else siteStorage.setItem(KEY, next)
  applyTheme()
}

/** The other one of light and dark. */
export const flipTheme = (): void => setTheme(shownTheme() === 'dark' ? 'light' : 'dark')

isDark.addEventListener('change', applyTheme)
// Another tab has chosen.
window.addEventListener('storage', ({ key }) => {
  if (key !== KEY) return
  theme = read()
  applyTheme()
})

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => theme)

/** What is on the screen, for what cannot be coloured by a style sheet. */
export const useShownTheme = (): 'light' | 'dark' => useSyncExternalStore(subscribe, shownTheme)
