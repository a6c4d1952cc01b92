// A short sound when something new waits, for machines without push messages. It is off until somebody switches it on.

import { useEffect, useRef, useSyncExternalStore } from 'react'
import { siteStorage } from '../browser-storage.ts'
import { useInbox } from '../data/waiting.ts'

const KEY = 'quarterdeck.sound'
const listeners = new Set<() => void>()

const isOn = (): boolean => siteStorage.getItem(KEY) !== null

export function setSoundOn(on: boolean): void {
  if (on) siteStorage.setItem(KEY, '1')
  else siteStorage.removeItem(KEY)
  for (const listener of listeners) listener()
}

export const useIsSoundOn = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    window.addEventListener('storage', listener)
    return () => {
      listeners.delete(listener)
      window.removeEventListener('storage', listener)
    }
  }, isOn)

/** Two soft tones, the second higher. Browsers are silent until somebody has pressed something on the page. */
export async function playSound(): Promise<void> {
  const audio = new AudioContext()
  const start = audio.currentTime
  for (const [at, pitch] of [
    [0, 660],
    [0.14, 880],
  ] as const) {
    const [tone, volume] = [audio.createOscillator(), audio.createGain()]
    tone.frequency.value = pitch
    volume.gain.setValueAtTime(0.0001, start + at)
    volume.gain.exponentialRampToValueAtTime(0.12, start + at + 0.02)
    volume.gain.exponentialRampToValueAtTime(0.0001, start + at + 0.3)
    tone.connect(volume).connect(audio.destination)
    tone.start(start + at)
    tone.stop(start + at + 0.32)
  }
  await new Promise((resolve) => setTimeout(resolve, 700))
  await audio.close()
}

/** Plays when something waits that did not wait before. Of several tabs only one is heard. It draws nothing. */
export function Sound(): null {
  const items = useInbox().data?.items
  /** When the newest of them was asked: what only moves up the list is not new. */
  const known = useRef<string | null>(null)
  useEffect(() => {
    if (items === undefined) return
    const newest = items.reduce((last, { created_at }) => (created_at > last ? created_at : last), known.current ?? '')
    const isNew = known.current !== null && newest > known.current
    known.current = newest
    if (!isNew || !isOn()) return
    if (navigator.locks === undefined) void playSound()
    else void navigator.locks.request('quarterdeck-sound', { ifAvailable: true }, async (lock) => lock && playSound())
  }, [items])
  return null
}
