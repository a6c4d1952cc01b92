import { useSyncExternalStore } from 'react'
import { siteStorage } from '../browser-storage.ts'
import { createObserved, useObserved } from '../observed.ts'

/** `system` follows the device. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'quarterdeck.theme'
const DARK = '(prefers-color-scheme: dark)'
const theme = createObserved<Theme>(read())

function read(): Theme {
  const kept = siteStorage.getItem(KEY)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

function shownTheme(of = theme.current()): 'light' | 'dark' {
  return of === 'system' ? (matchMedia(DARK).matches ? 'dark' : 'light') : of
}

function show(next: Theme): void {
  document.documentElement.dataset.theme = shownTheme(next)
  theme.set(next)
}

/** Shows the theme, and follows the device and the other tabs. The page does this once, at its start. */
export function beginTheme(): void {
  show(theme.current())
  matchMedia(DARK).addEventListener('change', () => show(theme.current()))
  window.addEventListener('storage', ({ key }) => key === KEY && show(read()))
}

export function setTheme(next: Theme): void {
  if (next === 'system') siteStorage.removeItem(KEY)
  else siteStorage.setItem(KEY, next)
  show(next)
}

/** The other one of light and dark. */
export const flipTheme = (): void => setTheme(shownTheme() === 'dark' ? 'light' : 'dark')

export const useTheme = (): Theme => useObserved(theme)

/** What is on the screen, for what cannot be coloured by a style sheet. */
export const useShownTheme = (): 'light' | 'dark' => useSyncExternalStore(theme.subscribe, () => shownTheme())
