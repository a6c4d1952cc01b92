// A conversation is a tree: a message that was edited and an answer that was asked for again begin a new branch, and the old one stays.
// The items come in the order of the log. An item follows the one before it, unless it is the first of a branch.

import type { TranscriptItem } from './transcript.ts'

/** The first item of each branch, by its key, and the item that it follows. Null: it begins the conversation. */
export type Forks = ReadonlyMap<string, string | null>

/** In the place of the item before a branch: it is on a page that is not loaded. */
export const NOT_LOADED = '?'

interface Tree {
  items: readonly TranscriptItem[]
  forks: Forks
  /** The last item of the conversation as it stands. */
  end: string | null
}

/** The items from the beginning to this one. */
export function pathTo({ items, forks }: Omit<Tree, 'end'>, end: string | null): readonly TranscriptItem[] {
  if (forks.size === 0 && items.at(-1)?.key === end) return items
  const places = new Map(items.map(({ key }, place) => [key, place]))
  const path: TranscriptItem[] = []
  for (let place = places.get(end ?? ''); place !== undefined && place >= 0; ) {
    const item = items[place] as TranscriptItem
    path.push(item)
    const before = forks.get(item.key)
    place = before === undefined ? place - 1 : places.get(before ?? '')
  }
  return path.reverse()
}

export interface Branch {
  items: readonly TranscriptItem[]
  /** It is what the next message continues. */
  isCurrent: boolean
  /** Where it parts from others: by the key of its item, the items that stand in the same place, oldest first. */
  versions: ReadonlyMap<string, readonly string[]>
}

/** The branch with this item, or the conversation as it stands. `isWhole`: the first item is the first of all. */
export function branchOf(tree: Tree, through: string | null, isWhole: boolean): Branch {
  const { items, forks, end } = tree
  const current = pathTo(tree, end)
  if (forks.size === 0) return { items: current, isCurrent: true, versions: NONE }
  const siblings = new Map<string | null, string[]>()
  items.forEach(({ key }, place) => {
    const before = forks.get(key) ?? (forks.has(key) ? null : (items[place - 1]?.key ?? null))
    siblings.set(before, [...(siblings.get(before) ?? []), key])
  })
  const isCurrent = through === null || current.some(({ key }) => key === through)
  let last = through
  if (!isCurrent)
    for (let next = through as string | undefined; next !== undefined; next = siblings.get(next)?.at(-1)) last = next
  const shown = isCurrent ? current : pathTo(tree, last)
  const versions = new Map<string, readonly string[]>()
  shown.forEach(({ key }, place) => {
    const before = place > 0 ? (shown[place - 1]?.key ?? null) : (forks.get(key) ?? null)
    const others = siblings.get(before) ?? []
    if (others.length > 1 && before !== NOT_LOADED && (before !== null || isWhole)) versions.set(key, others)
  })
  return { items: shown, isCurrent, versions }
}

const NONE: ReadonlyMap<string, readonly string[]> = new Map()
