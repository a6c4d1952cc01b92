import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import rowStyles from '../VirtualRows.module.css'
import { useScroller } from './Scroller.tsx'
import styles from './SeenRows.module.css'
import { createLooks } from './seen.ts'

export interface SeenRowsHandle {
  scrollTo(index: number): void
  /** The rows that are on the screen now. */
  inSight(): { first: number; last: number }
}

interface SeenRowsProps {
  count: number
  keyOf: (index: number) => string
  /** A guess. The real height is measured. */
  rowHeight: number
  children: (index: number) => ReactNode
  /** Rows whose lower edge has come on the screen. A row may be told more than once. */
  onSeen: (indexes: readonly number[]) => void
  label: string
  /** Otherwise long rows go on beside the screen, and count as seen once their end was on it. */
  isWrapped?: boolean
  ref?: Ref<SeenRowsHandle>
}

/** Rows that moved have come to rest by then. */
const SETTLED_MS = 100

/**
 * Rows of any number, of which only those in sight are in the page. They scroll with the `Scroller` around them, or by themselves where
 * there is none. A row counts as seen when its lower edge was really on the screen: measured, and not behind a dialog.
 */
export function SeenRows({ count, keyOf, rowHeight, children, onSeen, label, isWrapped = true, ref }: SeenRowsProps) {
  const scroller = useScroller()
  const box = useRef<HTMLDivElement>(null)
  const all = useRef<HTMLDivElement>(null)
  const [margin, setMargin] = useState(0)
  const element = useCallback(() => scroller ?? box.current, [scroller])
  const rows = useVirtualizer({
    count,
    getScrollElement: element,
    estimateSize: () => rowHeight,
    getItemKey: keyOf,
    scrollMargin: margin,
    overscan: 6,
  })

  // What stands above may grow and shrink, and the rows begin below it.
  useLayoutEffect(() => {
    if (scroller === null || all.current === null) return
    const list = all.current
    const measure = () => {
      const top = list.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop
      setMargin((was) => (Math.abs(was - top) < 1 ? was : top))
    }
    measure()
    const sizes = new ResizeObserver(measure)
    sizes.observe(scroller)
    for (let one = list.parentElement; one !== null && one !== scroller; one = one.parentElement) sizes.observe(one)
    return () => sizes.disconnect()
  }, [scroller])

  const report = useRef(onSeen)
  report.current = onSeen
  useEffect(() => {
    const stayedSinceLast = createLooks()
    let again: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      const [port, list] = [element(), all.current]
      if (port === null || list === null) return
      const found = rowsOnScreen(port, list, box.current)
      const stayed = stayedSinceLast(found)
      report.current(stayed)
      clearTimeout(again)
      if (stayed.length < found.length) again = setTimeout(later, SETTLED_MS)
    }
    // The frame after: by then the rows are where they are shown.
    let frame = requestAnimationFrame(look)
    const later = () => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(look)
    }
    document.addEventListener('scroll', later, { capture: true, passive: true })
    document.addEventListener('visibilitychange', later)
    window.addEventListener('resize', later)
    // A dialog was closed, something above has changed, the rows have been measured: nothing tells, so it looks now and then.
    const timer = setInterval(later, 300)
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(again)
      clearInterval(timer)
      document.removeEventListener('scroll', later, { capture: true })
      document.removeEventListener('visibilitychange', later)
      window.removeEventListener('resize', later)
    }
  }, [element])

  useImperativeHandle(ref, () => ({
    scrollTo: (index) => rows.scrollToIndex(index, { align: 'center' }),
    inSight() {
      const [port, list] = [element(), all.current]
      const seen = port === null || list === null ? [] : rowsOnScreen(port, list, null)
      return { first: seen[0] ?? 0, last: seen.at(-1) ?? 0 }
    },
  }))

  return (
    <div
      ref={box}
      className={[scroller === null && styles.box, !isWrapped && styles.unwrapped].filter(Boolean).join(' ')}
      tabIndex={scroller === null || !isWrapped ? 0 : undefined}
      role="group"
      aria-label={label}
    >
      <div ref={all} className={rowStyles.all} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => (
          <div
            key={key}
            ref={rows.measureElement}
            data-index={index}
            className={rowStyles.row}
            style={{ transform: `translateY(${start - rows.options.scrollMargin}px)` }}
          >
            {children(index)}
          </div>
        ))}
      </div>
    </div>
  )
}

/** `box`: a row whose end is outside of it on the right has not been seen. Null: that does not matter. */
function rowsOnScreen(port: HTMLElement, list: HTMLElement, box: HTMLElement | null): number[] {
  if (document.visibilityState !== 'visible') return []
  const dialog = document.querySelector('dialog[open]')
  if (dialog !== null && !dialog.contains(list)) return []
  const frame = port.getBoundingClientRect()
  const [top, bottom] = [Math.max(0, frame.top), Math.min(window.innerHeight, frame.bottom)]
  const end = Math.min(window.innerWidth, box?.getBoundingClientRect().right ?? Number.POSITIVE_INFINITY)
  const found: number[] = []
  for (const row of list.children) {
    if (!(row instanceof HTMLElement)) continue
    const edge = row.getBoundingClientRect()
    const isWhole = box === null || edge.right <= end + 1
    if (isWhole && edge.height > 0 && edge.bottom > top && edge.bottom <= bottom + 1)
      found.push(Number(row.dataset.index))
  }
  return found.sort((a, b) => a - b)
}
