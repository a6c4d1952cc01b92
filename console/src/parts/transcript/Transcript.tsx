import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { TranscriptItem } from '../../data/transcript.ts'
import { Button } from '../Button.tsx'
import { NewestIcon } from '../icons.ts'
import { lazyPart } from '../lazy-part.tsx'
import type { Source } from './citations.ts'
import { OpenSourceContext } from './conversation.ts'
import { actions, ItemView } from './ItemView.tsx'
import { OpenRowsContext } from './open-rows.ts'
import { createPieces, type Line } from './pieces.ts'
import styles from './Transcript.module.css'

interface TranscriptProps {
  items: readonly TranscriptItem[]
  /** For screen readers: whose conversation it is. */
  label: string
  /** There are earlier items, which `onEarlier` loads. */
  hasEarlier?: boolean
  isLoadingEarlier?: boolean
  onEarlier?: () => void
  /** After the last item: messages on their way, what is going on. */
  footer?: ReactNode
  /** Questions that are shown somewhere else on the page, by their ids. */
  docked?: ReadonlySet<string>
  /** Key of an item: it is brought into sight, instead of the end. */
  goTo?: string | null
  isMarked?: boolean
}

/** As near to the end as this, a reader is at the end. */
const NEAR = 48
const FOOTER = 'footer'

/**
 * A conversation of any length. It opens at its end and stays there while the reader is there; a reader who has scrolled up is left alone.
 * Earlier items come in above without moving what is read.
 */
export function Transcript({
  items,
  label,
  hasEarlier = false,
  isLoadingEarlier = false,
  onEarlier,
  footer = null,
  docked = NONE,
  goTo = null,
  isMarked = true,
}: TranscriptProps) {
  const box = useRef<HTMLDivElement>(null)
  const [source, openSource] = useState<Source | null>(null)
  const openRows = useRef(new Map<string, boolean>())
  /** Written when the reader scrolls, read when the content changes. */
  const isFollowing = useRef(goTo === null)
  const [isAtEnd, setAtEnd] = useState(true)
  /** Earlier items may come in too: only another last one is new. */
  const seenLast = useRef(items.at(-1)?.key)
  const hasFooter = footer !== null && footer !== false
  const [cut] = useState(createPieces)
  const lines = useMemo(() => cut(items), [cut, items])
  const count = lines.length + (hasFooter ? 1 : 0)
  const rows = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: (index) => estimate(lines[index]),
    getItemKey: (index) => lines[index]?.key ?? FOOTER,
    overscan: 6,
    anchorTo: 'end',
    scrollEndThreshold: NEAR,
    paddingStart: 16,
    paddingEnd: 24,
  })

  const onScroll = useCallback(() => {
    const { current } = box
    if (current === null) return
    const isNear = current.scrollHeight - current.scrollTop - current.clientHeight <= NEAR
    isFollowing.current = isNear
    setAtEnd(isNear)
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever changed, a reader at the end stays there
  useLayoutEffect(() => {
    if (isFollowing.current) {
      rows.scrollToEnd()
      seenLast.current = items.at(-1)?.key
    }
  }, [items, footer])

  // Rows are measured and earlier ones come in while it goes there, so it goes there again until the reader scrolls.
  const going = useRef<string | null>(null)
  const before = useRef(goTo)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another goal moves it
  useLayoutEffect(() => {
    // Back from somewhere: the conversation goes on at its end.
    if (before.current !== null && goTo === null) toEnd()
    before.current = goTo
    going.current = goTo
  }, [goTo])
  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever changed, it may have moved what is wanted
  useLayoutEffect(() => {
    const index = going.current === null ? -1 : lines.findIndex(({ key }) => key === going.current)
    if (index === -1) return
    isFollowing.current = false
    setAtEnd(rows.getTotalSize() <= (box.current?.clientHeight ?? 0))
    const size = rows.measurementsCache[index]?.size ?? 0
    rows.scrollToIndex(index, { align: size < (box.current?.clientHeight ?? 0) ? 'center' : 'start' })
  }, [goTo, items])
  useEffect(() => {
    const { current } = box
    if (goTo === null || current === null) return
    const stay = () => {
      going.current = null
    }
    const events = ['wheel', 'touchmove', 'keydown', 'pointerdown']
    for (const name of events) current.addEventListener(name, stay, { passive: true })
    return () => {
      for (const name of events) current.removeEventListener(name, stay)
    }
  }, [goTo])

  // Under way before there is anything to act on, and before a server can go away. What does not come now is missing later too.
  useEffect(() => void actions().catch(() => {}), [])

  // What stands below it may grow: the field for the next message, a question.
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const observer = new ResizeObserver(() => isFollowing.current && rows.scrollToEnd())
    observer.observe(current)
    return () => observer.disconnect()
  }, [rows])

  const shown = rows.getVirtualItems()
  const first = shown[0]?.index ?? 0
  // An answer cannot be cut into pieces before its beginning is there.
  const isHeadless = items[0]?.type === 'answer' && items[0].isHeadless
  useEffect(() => {
    if ((first <= 3 || isHeadless) && hasEarlier && !isLoadingEarlier) onEarlier?.()
  }, [first, isHeadless, hasEarlier, isLoadingEarlier, onEarlier])

  function toEnd(): void {
    isFollowing.current = true
    setAtEnd(true)
    seenLast.current = items.at(-1)?.key
    rows.scrollToEnd()
    box.current?.focus({ preventScroll: true })
  }
  const hasNew = !isAtEnd && items.at(-1)?.key !== seenLast.current
  const newest = items.findLast(({ type, subagent }) => (type === 'answer' && subagent === null) || type === 'end')?.key
  return (
    <OpenRowsContext value={openRows.current}>
      <div className={styles.frame}>
        <OpenSourceContext value={openSource}>
          <div ref={box} className={styles.box} tabIndex={0} role="list" aria-label={label} onScroll={onScroll}>
            <div className={styles.all} style={{ height: rows.getTotalSize() }} role="presentation">
              {hasEarlier && <p className={styles.earlier}>Loading earlier messages…</p>}
              {shown.map(({ index, key, start }) => {
                const line = lines[index]
                const item = line?.item
                return (
                  <div
                    key={key}
                    ref={rows.measureElement}
                    data-index={index}
                    className={styles.row}
                    data-wanted={(isMarked && goTo !== null && line?.key === goTo) || undefined}
                    style={{ transform: `translateY(${start}px)` }}
                    role="listitem"
                    aria-setsize={hasEarlier ? -1 : count}
                    aria-posinset={index + 1}
                  >
                    <div className={styles.column}>
                      {item === undefined ? (
                        footer
                      ) : (
                        <ItemView
                          item={item}
                          isDocked={item.type === 'question' && docked.has(item.interrupt.id)}
                          isLastOfTurn={isLastOfTurn(lines[index + 1]?.item)}
                          piece={line?.piece ?? null}
                          isNewest={item.key === newest}
                        />
                      )}
                    </div>
                  </div>
                )
              })}
            </div>
          </div>
        </OpenSourceContext>
        {source !== null && (
          <Suspense>
            <PassageDialog source={source} onClose={() => openSource(null)} />
          </Suspense>
        )}
        {!isAtEnd && (
          <div className={styles.toEnd}>
            <Button icon={<NewestIcon />} onClick={toEnd}>
              {hasNew ? 'New messages' : 'To the end'}
            </Button>
          </div>
        )}
      </div>
    </OpenRowsContext>
  )
}

/** What follows belongs to another turn. */
const isLastOfTurn = (next: TranscriptItem | undefined): boolean => next === undefined || next.type === 'user'

const PassageDialog = lazyPart(() => import('./PassageDialog.tsx'))

const NONE: ReadonlySet<string> = new Set()

/** A guess that is near for most: a long answer that is guessed too short would make the page jump when it is scrolled to. */
function estimate(line: Line | undefined): number {
  if (line === undefined) return 60
  const { item, piece } = line
  if (item.type === 'answer') return 70 + Math.ceil((piece?.text ?? item.text).length / 90) * 24
  if (item.type === 'user') return 64 + Math.ceil(item.text.length / 80) * 22
  if (item.type === 'question') return 120
  return 52
}
