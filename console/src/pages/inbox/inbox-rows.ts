// The rows of the inbox while somebody looks at it. What is done stays in its place, greyed, so that nothing moves under the pointer.

import type { InboxItem } from 'quarterdeck/client'

interface ListedItem {
  item: InboxItem
  /** It is no longer in this list on the server: somebody has decided, or it is over. */
  isGone: boolean
}

/** What one look is enough for: an item, or several that are alike. */
export interface InboxRow {
  /** Of the first item. */
  id: string
  items: readonly [InboxItem, ...InboxItem[]]
  isGone: boolean
}

/**
 * Takes the list, read again. What is missing between items that are still there has gone, and stays behind the one that it stood
 * behind. What is missing at the end has gone only if the list is complete: something more urgent may have pushed it out.
 */
export function takeList(was: readonly ListedItem[], items: readonly InboxItem[], isComplete: boolean): ListedItem[] {
  const ids = new Set(items.map(({ id }) => id))
  const last = isComplete ? was.length - 1 : was.findLastIndex(({ item }) => ids.has(item.id))
  const gone = new Map<string | null, ListedItem[]>()
  let behind: string | null = null
  for (const row of was.slice(0, last + 1)) {
    if (ids.has(row.item.id)) behind = row.item.id
    else gone.set(behind, [...(gone.get(behind) ?? []), { ...row, isGone: true }])
  }
  return [
    ...(gone.get(null) ?? []),
    ...items.flatMap((item) => [{ item, isGone: false }, ...(gone.get(item.id) ?? [])]),
  ]
}

/** The server decides no more with one request. */
const MOST_TOGETHER = 100

/** Items that are alike, as one row in the place of the first. */
export function rowsOf(listed: readonly ListedItem[]): InboxRow[] {
  const groups = new Map<string, [InboxItem, ...InboxItem[]]>()
  return listed.flatMap(({ item, isGone }) => {
    const { group } = item.view
    const of = group === null || isGone ? undefined : groups.get(group)
    if (of !== undefined && of.length < MOST_TOGETHER) {
      of.push(item)
      return []
    }
    const items: [InboxItem, ...InboxItem[]] = [item]
    if (group !== null && !isGone) groups.set(group, items)
    return [{ id: item.id, items, isGone }]
  })
}

export const hasItem = (row: InboxRow, id: string | null): boolean => row.items.some((item) => item.id === id)

/** `4 alike: npm test, npm run lint, …`. */
export const groupTitle = (items: readonly InboxItem[]): string =>
  `${items.length} alike: ${items.map(({ view }) => view.title).join(', ')}`
