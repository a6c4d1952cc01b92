import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef } from 'react'
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
  /** It opens at its end, and stays there while the reader is there. Goes with `keepsPlace`. */
  followsEnd?: boolean
  /** Called with the first row in sight. */
  onRange?: ((first: number) => void) | undefined
  ref?: Ref<RowsHandle>
}

/** As near to the end as this, a reader is at the end. */
const NEAR = 48

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
  followsEnd = false,
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
    scrollEndThreshold: followsEnd ? NEAR : 0,
  })
  useImperativeHandle(ref, () => ({
    scrollToIndex: (index, align = 'auto') => rows.scrollToIndex(index, { align }),
  }))
  const isAtEnd = useRef(followsEnd)
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is new, a reader at the end stays there
  useLayoutEffect(() => {
    if (followsEnd && isAtEnd.current) rows.scrollToEnd()
  }, [items])
  function noteEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): void {
    isAtEnd.current = scrollHeight - scrollTop - clientHeight <= NEAR
  }
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
    <div
      ref={box}
      className={styles.box}
      tabIndex={0}
      role="list"
      aria-label={label}
      onScroll={followsEnd ? (event) => noteEnd(event.currentTarget) : undefined}
    >
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
