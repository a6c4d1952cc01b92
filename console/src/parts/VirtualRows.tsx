import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useRef } from 'react'
import styles from './VirtualRows.module.css'

export interface RowsHandle {
  scrollToIndex(index: number, align?: 'start' | 'center' | 'end' | 'auto'): void
}

interface VirtualRowsProps<T> {
  items: readonly T[]
  keyOf: (item: T) => string
  children: (item: T) => ReactNode
  /** A guess. The real height is measured. */
  rowHeight: number
  label: string
  /** Called when the last rows come into sight: there may be more. */
  onEnd?: (() => void) | undefined
  /** Called when the first rows come into sight: there may be earlier ones. Goes with `keepsPlace`. */
  onStart?: (() => void) | undefined
  /** Rows that come or go above do not move what is in sight. */
  keepsPlace?: boolean
  /** Called with the first row in sight. */
  onRange?: ((first: number) => void) | undefined
  ref?: Ref<RowsHandle>
}

/** A list of any length. Only the rows in sight are in the page, so 100,000 of them scroll like a hundred. */
export function VirtualRows<T>({
  items,
  keyOf,
  children,
  rowHeight,
  label,
  onEnd,
  onStart,
  keepsPlace = false,
  onRange,
  ref,
}: VirtualRowsProps<T>) {
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => {
      const item = items[index]
      return item === undefined ? index : keyOf(item)
    },
    overscan: 8,
    anchorTo: keepsPlace ? 'end' : 'start',
  })
  useImperativeHandle(ref, () => ({
    scrollToIndex: (index, align = 'auto') => rows.scrollToIndex(index, { align }),
  }))
  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? -1
  useEffect(() => {
    if (last >= items.length - 5 && items.length > 0) onEnd?.()
  }, [last, items.length, onEnd])
  const first = shown[0]?.index ?? -1
  // biome-ignore lint/correctness/useExhaustiveDependencies: when rows came above, there may be more
  useEffect(() => {
    if (first >= 0 && first < 5) onStart?.()
  }, [first, items.length, onStart])
  const firstInSight = rows.range?.startIndex ?? 0
  useEffect(() => onRange?.(firstInSight), [onRange, firstInSight])
  return (
    <div ref={box} className={styles.box} tabIndex={0} role="list" aria-label={label}>
      <div style={{ height: rows.getTotalSize() }} className={styles.all} role="presentation">
        {shown.map(({ index, key, start }) => {
          const item = items[index]
          if (item === undefined) return null
          return (
            <div
              key={key}
              ref={rows.measureElement}
              data-index={index}
              className={styles.row}
              style={{ transform: `translateY(${start}px)` }}
              role="listitem"
              aria-setsize={items.length}
              aria-posinset={index + 1}
            >
              {children(item)}
            </div>
          )
        })}
      </div>
    </div>
  )
}
