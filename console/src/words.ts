// The words of the console for what the server names. One list, so that a thing has one name on every page.

import type { Tone } from './parts/Badge.tsx'

const statuses: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  // Runs and sessions.
  queued: ['Queued', 'neutral'],
  running: ['Running', 'accent'],
  waiting: ['Waiting', 'accent'],
  completed: ['Done', 'good'],
  failed: ['Failed', 'bad'],
  cancelled: ['Stopped', 'neutral'],
  interrupted: ['Interrupted', 'warn'],
  created: ['New', 'neutral'],
  active: ['Active', 'accent'],
  paused: ['Paused', 'warn'],
  terminated: ['Ended', 'neutral'],
  open: ['Open', 'neutral'],
  ended: ['Ended', 'neutral'],
  // Indexes of documents.
  indexing: ['Indexing', 'accent'],
  ready: ['Ready', 'good'],
  // Calls of tools.
  preparing: ['Preparing', 'neutral'],
  done: ['Done', 'good'],
  stopped: ['Stopped', 'neutral'],
}

/** An unknown status of a newer server is shown as it is. */
export const statusWord = (status: string): string => statuses[status]?.[0] ?? status

export const statusTone = (status: string): Tone => statuses[status]?.[1] ?? 'neutral'

const kinds: Readonly<Record<string, string>> = {
  chat: 'Chat',
  supervised: 'Coding agent',
}

export const kindWord = (kind: string): string => kinds[kind] ?? kind

const sizes = ['B', 'kB', 'MB', 'GB'] as const

/** `1.2 MB`. */
export function byteWord(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1_000 && unit < sizes.length - 1) {
    value /= 1_000
    unit += 1
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${sizes[unit]}`
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const plain = new Intl.NumberFormat('en')

/** `950`, `12.3K`, `4M`: for lists. */
export const shortCount = (count: number): string => (count < 1_000 ? String(count) : compact.format(count))
/** `12,345`. */
export const fullCount = (count: number): string => plain.format(count)
/** `1 message`, `2 messages`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${fullCount(count)} ${count === 1 ? one : many}`

/** With a large first letter. */
export const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)

interface Titled {
  title: string
  supervision?: { host: string; workspace_root: string } | undefined
}

/** What a session is called: its first words, or the program and the folder of a coding agent. */
export function sessionTitle({ title, supervision }: Titled): string {
  if (title !== '') return title
  return supervision === undefined ? 'Untitled' : `${supervision.host} in ${folderName(supervision.workspace_root)}`
}

/** `shop` of `/home/ada/shop`. */
export const folderName = (path: string): string => path.replace(/.*[/\\](?=.)/, '')
