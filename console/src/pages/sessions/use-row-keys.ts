import { type RefObject, useState } from 'react'
import type { KeyAction } from '../../app/Keys.tsx'
import type { RowsHandle } from '../../parts/VirtualRows.tsx'

interface RowKeys {
  actions: KeyAction[]
  setCurrent: (id: string) => void
  /** Presses the link of the current row. */
  open: () => void
  /** The row goes away: its neighbour gets the focus. */
  moveFrom: (id: string) => void
}

/** `j` and `k` move the focus from row to row. Each row has a link with the id `row-…`. */
export function useRowKeys<T>(
  rows: readonly T[],
  idOf: (row: T) => string,
  handle: RefObject<RowsHandle | null>,
): RowKeys {
  const [current, setCurrent] = useState<string | null>(null)
  const place = rows.findIndex((row) => idOf(row) === current)

  function go(index: number): void {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))]
    if (row === undefined) return
    setCurrent(idOf(row))
    handle.current?.scrollToIndex(rows.indexOf(row))
    // The row may have to be drawn first.
    requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(rowLinkId(idOf(row)))?.focus()))
  }

  return {
    actions: [
      { keys: 'j', name: 'Next session', group: 'Sessions', run: () => go(place + 1) },
      { keys: 'k', name: 'Previous session', group: 'Sessions', run: () => go(place === -1 ? 0 : place - 1) },
    ],
    setCurrent,
    open: () => current !== null && document.getElementById(rowLinkId(current))?.click(),
    moveFrom(id) {
      const at = rows.findIndex((row) => idOf(row) === id)
      go(at + 1 < rows.length ? at + 1 : at - 1)
    },
  }
}

export const rowLinkId = (id: string): string => `row-${id}`
