// What somebody has begun to write and not sent: to an agent, or as the answer to an item of the inbox. It is kept in the tab, over
// reloads and lost connections, and no longer than the tab: it may say what an agent's arguments say, and whoever uses this browser
// next must not find it.

import { isRecord } from '../../../src/domain/is-record.ts'
import { tabStorage } from '../browser-storage.ts'
import type { FeedItem } from './live-types.ts'

export type DraftStore = Pick<typeof tabStorage, 'getItem' | 'setItem' | 'removeItem' | 'keys'>

const PREFIX = 'quarterdeck.draft.'
/** The oldest make room for a new one. */
const MOST = 30

export function keptDraft(name: string, store: DraftStore = tabStorage): Readonly<Record<string, unknown>> {
  try {
    const kept: unknown = JSON.parse(store.getItem(PREFIX + name) ?? 'null')
    return isRecord(kept) ? kept : {}
  } catch {
    return {}
  }
}

/** Null: there is nothing to keep any more. */
export function keepDraft(name: string, draft: object | null, store: DraftStore = tabStorage): void {
  if (draft === null) {
    store.removeItem(PREFIX + name)
    return
  }
  store.setItem(PREFIX + name, JSON.stringify({ ...draft, at: Date.now() }))
  const others = store.keys().filter((key) => key.startsWith(PREFIX) && key !== PREFIX + name)
  if (others.length < MOST) return
  const age = (key: string) => Number(keptDraft(key.slice(PREFIX.length), store).at) || 0
  for (const key of others.sort((a, b) => age(b) - age(a)).slice(MOST - 1)) store.removeItem(key)
}

/** The statuses in which an item of the inbox still wants an answer. */
const OPEN: ReadonlySet<string> = new Set(['pending', 'waiting', 'nudged', 'escalated'])

/** What somebody has begun to answer is thrown away once it is answered, wherever that was. */
export function dropIfSettled(item: FeedItem): void {
  if (item.kind === 'session' || item.kind === 'run' || OPEN.has(item.status)) return
  const named: Readonly<Record<string, unknown>> = { ...item }
  keepDraft(itemDraft(String(named[`${item.kind}_id`])), null)
}

/** Of an item of the inbox. */
export const itemDraft = (id: string): string => `item.${id}`
