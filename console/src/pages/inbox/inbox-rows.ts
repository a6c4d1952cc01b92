// The rows of the inbox while somebody looks at it. What is done stays in its place, greyed, so that nothing moves under the pointer.

import type { Client, InboxItem } from 'quarterdeck/client'

export interface InboxRow {
  item: InboxItem
  /** It is no longer in this list on the server: somebody has decided, or it is over. */
  isGone: boolean
}

export interface InboxRows {
  rows: readonly InboxRow[]
  /** Where the server goes on. Null: everything is here. */
  next: string | null
}

type InboxPageOf = Pick<Awaited<ReturnType<Client['inbox']>>, 'items' | 'next'>

export const NO_ROWS: InboxRows = { rows: [], next: null }

/** Newest first, as the server sorts. */
function isBefore(a: InboxItem, b: InboxItem): boolean {
  return a.created_at === b.created_at ? a.id > b.id : a.created_at > b.created_at
}

/**
 * Takes the first page, read again. What is older than its last item is left as it was. What should be in it and is not has gone. If the
 * page has nothing that was here before, something between may be missing, so the list begins anew.
 */
export function takeFirstPage({ rows, next }: InboxRows, page: InboxPageOf): InboxRows {
  const fresh = page.items.map((item) => ({ item, isGone: false }))
  const ids = new Set(page.items.map(({ id }) => id))
  const last = page.items.at(-1)
  const isKnown = rows.some(({ item }) => ids.has(item.id))
  if (rows.length === 0 || (!isKnown && page.next !== null)) return { rows: fresh, next: page.next }
  const isCovered = (item: InboxItem): boolean => page.next === null || (last !== undefined && isBefore(item, last))
  const kept = rows
    .filter(({ item }) => !ids.has(item.id))
    .map((row) => (isCovered(row.item) ? { ...row, isGone: true } : row))
  const hasOlder = last !== undefined && rows.some(({ item }) => isBefore(last, item) && !ids.has(item.id))
  return { rows: merged(fresh, kept), next: page.next === null ? null : hasOlder ? next : page.next }
}

export function takeNextPage({ rows }: InboxRows, page: InboxPageOf): InboxRows {
  const ids = new Set(rows.map(({ item }) => item.id))
  const more = page.items.filter(({ id }) => !ids.has(id)).map((item) => ({ item, isGone: false }))
  return { rows: merged(rows, more), next: page.next }
}

/** Lets go of what is done, but for the row that is open. */
export function withoutGone(list: InboxRows, openId: string | null): InboxRows {
  const rows = list.rows.filter(({ isGone, item }) => !isGone || item.id === openId)
  return rows.length === list.rows.length ? list : { ...list, rows }
}

/** Two lists that are sorted, as one that is. */
function merged(a: readonly InboxRow[], b: readonly InboxRow[]): InboxRow[] {
  const all: InboxRow[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    if (right === undefined || (left !== undefined && isBefore(left.item, right.item))) {
      if (left !== undefined) all.push(left)
      i += 1
    } else {
      all.push(right)
      j += 1
    }
  }
  return all
}

/** Whether a row has what somebody typed, in what it shows or in the names of who waits. */
export function fits({ item }: InboxRow, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const { title, gist } = item.view
  const names = [item.title, item.agent, item.owner, item.host ?? '', item.tool ?? '', item.session_title ?? '']
  const about = [title, gist, ...names].join(' ').toLowerCase()
  return words.every((word) => about.includes(word))
}
