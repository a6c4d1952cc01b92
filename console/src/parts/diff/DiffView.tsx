import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useKeys } from '../../app/Keys.tsx'
import { siteStorage } from '../../browser-storage.ts'
import { counted, fullCount } from '../../words.ts'
import { Button, IconButton } from '../Button.tsx'
import { flipped } from '../flipped.ts'
import { NextIcon, PreviousIcon } from '../icons.ts'
import { SeenRows, type SeenRowsHandle } from '../seen/SeenRows.tsx'
import { createSeenAccount, type Seen } from '../seen/seen.ts'
import { DiffRow } from './DiffRow.tsx'
import styles from './DiffView.module.css'
import { diffParts, diffRows, nextChange } from './diff-rows.ts'
import { parseDiff } from './parse-diff.ts'

interface DiffViewProps {
  /** A unified diff in which the server has marked hidden characters (`shown_diff`). */
  text: string
  label?: string
  /** Called whenever more of it has been on the screen, and first with nothing. */
  onSeen?: ((seen: Seen) => void) | undefined
  /** What a file of the diff stands for. */
  thing?: string
  /** The keys `n`, `p` and `x`. Off where a page shows several diffs. */
  hasKeys?: boolean
}

/** Narrower, and two files beside each other cannot be read. In rem. */
const WIDE = 62
const KEPT = 'quarterdeck.diff'

/** A diff, all of it: wrapped, with line numbers, changed words and marks. 20,000 lines scroll like a hundred. */
export function DiffView({ text, label = 'Difference', onSeen, thing = 'file', hasKeys = true }: DiffViewProps) {
  const files = useMemo(() => parseDiff(text), [text])
  const account = useMemo(() => createSeenAccount(diffParts(files)), [files])
  const frame = useRef<HTMLDivElement>(null)
  const handle = useRef<SeenRowsHandle>(null)
  const isWide = useIsWide(frame)
  const [wantsSplit, setWantsSplit] = useState(() => siteStorage.getItem(KEPT) !== 'unified')
  const isSplit = isWide && wantsSplit && files.some(({ added, removed }) => added > 0 && removed > 0)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const [viewed, setViewed] = useState<ReadonlySet<number>>(new Set())
  const { rows, changes } = useMemo(
    () => diffRows(files, { isSplit, opened, closed: viewed }),
    [files, isSplit, opened, viewed],
  )
  const [current, setCurrent] = useState<string | null>(null)

  // biome-ignore lint/correctness/useExhaustiveDependencies: another diff has not been seen yet
  useEffect(() => {
    onSeen?.(account.current())
    setOpened(new Set())
    setViewed(new Set())
    setCurrent(null)
  }, [account])

  const onOpen = useCallback((key: string) => setOpened((was) => new Set(was).add(key)), [])
  const onView = useCallback((file: number) => setViewed((was) => flipped(was, file)), [])

  function go(step: 1 | -1): void {
    const sight = handle.current?.inSight() ?? { first: 0, last: 0 }
    const at = rows.findIndex(({ key }) => key === current)
    const isInSight = at >= sight.first && at <= sight.last
    // Who has scrolled away goes on from what is in sight.
    const next = nextChange(changes, isInSight ? at : step === 1 ? sight.first - 1 : sight.last + 1, step)
    if (next === null) return
    setCurrent(rows[next]?.key ?? null)
    handle.current?.scrollTo(next)
  }
  function viewCurrent(): void {
    const sight = handle.current?.inSight().first ?? 0
    const row = rows.find(({ key }) => key === current) ?? rows[sight]
    if (row !== undefined) onView(row.file)
  }
  useKeys(
    hasKeys
      ? [
          { keys: 'n', name: 'Next change', group: 'Diff', run: () => go(1) },
          { keys: 'p', name: 'Previous change', group: 'Diff', run: () => go(-1) },
          { keys: 'x', name: `Mark the ${thing} viewed`, group: 'Diff', run: viewCurrent },
        ]
      : [],
  )

  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  return (
    <div ref={frame} className={styles.diff}>
      <div className={styles.bar}>
        <p className={styles.sum}>
          {files.length > 1 && `${counted(files.length, thing)}, `}
          {counted(added, 'line')} added, {fullCount(removed)} removed
          {viewed.size > 0 && `, ${viewed.size} of ${files.length} viewed`}
        </p>
        <span className={styles.tools}>
          {isWide && (
            <Button
              kind="quiet"
              aria-pressed={wantsSplit}
              onClick={() => {
                siteStorage.setItem(KEPT, wantsSplit ? 'unified' : 'split')
                setWantsSplit(!wantsSplit)
              }}
            >
              Side by side
            </Button>
          )}
          <IconButton
            label="Previous change"
            icon={<PreviousIcon />}
            onClick={() => go(-1)}
            disabled={changes.length === 0}
          />
          <IconButton label="Next change" icon={<NextIcon />} onClick={() => go(1)} disabled={changes.length === 0} />
        </span>
      </div>
      <SeenRows
        ref={handle}
        count={rows.length}
        keyOf={(index) => rows[index]?.key ?? String(index)}
        rowHeight={20}
        label={label}
        onSeen={(indexes) => {
          if (account.add(indexes.flatMap((index) => rows[index]?.covers ?? []))) onSeen?.(account.current())
        }}
      >
        {(index) => {
          const row = rows[index]
          const file = row === undefined ? undefined : files[row.file]
          if (row === undefined || file === undefined) return null
          return (
            <DiffRow
              row={row}
              file={file}
              isViewed={viewed.has(row.file)}
              isCurrent={row.key === current}
              onOpen={onOpen}
              onView={onView}
            />
          )
        }}
      </SeenRows>
    </div>
  )
}

function useIsWide(frame: { current: HTMLElement | null }): boolean {
  const [isWide, setWide] = useState(false)
  useEffect(() => {
    if (frame.current === null) return
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    const sizes = new ResizeObserver(([entry]) => setWide((entry?.contentRect.width ?? 0) >= WIDE * rem))
    sizes.observe(frame.current)
    return () => sizes.disconnect()
  }, [frame])
  return isWide
}
