import type { LookedAt } from 'quarterdeck/client'
import { byteWord } from '../../words.ts'
import type { Seen } from '../seen/seen.ts'

/** Something that would run, and what of it has been on the screen. */
export interface LookedPart {
  name: string
  /** Size of all of it. */
  bytes: number
  /** Size of what the page has. */
  loadedBytes: number
  seen: Seen
}

/** For the audit trail. Nothing is rounded up: a part counts as seen only if all of it was on the screen. */
export function lookedAt(parts: readonly LookedPart[]): LookedAt {
  const notSeen = parts
    .filter(({ bytes, loadedBytes, seen }) => seen.fraction < 1 || loadedBytes < bytes)
    .map(({ name, bytes, loadedBytes, seen }) => {
      const total = Math.max(bytes, 1)
      return { name, shown: Math.min(total - 1, Math.floor(loadedBytes * seen.fraction)), total }
    })
  return notSeen.length === 0 ? { whole: true } : { whole: false, not_seen: notSeen.slice(0, 100) }
}

/** What a person is told before they say yes. Null: they have seen everything. */
export function notSeenText({ not_seen = [] }: LookedAt): string | null {
  if (not_seen.length === 0) return null
  const named = not_seen.slice(0, 3).map(({ name, shown, total }) => `${byteWord(total - shown)} of ${name}`)
  const more = not_seen.length > 3 ? ` and parts of ${not_seen.length - 3} more` : ''
  return `You have not looked at ${named.join(', ')}${more}. The audit trail will say so.`
}
