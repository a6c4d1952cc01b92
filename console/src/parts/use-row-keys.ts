import { type RefObject, useState } from 'react'
import type { RowsHandle } from './VirtualRows.tsx'

interface RowKeysOptions {
  /** What a row is: `session`. */
  what: string
  group: string
  handle: RefObject<RowsHandle | null>
}

/** `j` and `k` move the focus from row to row. Each row has a link or a button with the id `row-…`. */
export function useRowKeys<T>(rows: readonly T[], idOf: (row: T) => string, { what, group, handle }: RowKeysOptions) {
  const [current, setCurrent] = useState<string | null>(null)
  const place = rows.findIndex((row) => idOf(row) === current)

  function go(index: number): void {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))]
    if (row === undefined) return
    setCurrent(idOf(row))
    handle.current?.scrollToIndex(rows.indexOf(row))
    // The row may have to be drawn first.
    requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(rowId(idOf(row)))?.focus()))
  }

  return {
    actions: [
      { keys: 'j', name: `Next ${what}`, group, run: () => go(place + 1) },
      { keys: 'k', name: `Previous ${what}`, group, run: () => go(place === -1 ? 0 : place - 1) },
    ],
    current,
    setCurrent,
    /** Presses the current row. */
    open: () => current !== null && document.getElementById(rowId(current))?.click(),
    /** The row goes away: its neighbour gets the focus. */
    moveFrom(id: string): void {
      const at = rows.findIndex((row) => idOf(row) === id)
      go(at + 1 < rows.length ? at + 1 : at - 1)
    },
  }
}

export const rowId = (id: string): string => `row-${id}`
