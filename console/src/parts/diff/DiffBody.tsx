import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useKeys } from '../../app/Keys.tsx'
import { siteStorage } from '../../browser-storage.ts'
import { errorText } from '../../error-text.ts'
import { counted, fullCount } from '../../words.ts'
import { Button, IconButton } from '../Button.tsx'
import { flipped } from '../flipped.ts'
import { NextIcon, PreviousIcon } from '../icons.ts'
import { SeenRows, type SeenRowsHandle } from '../seen/SeenRows.tsx'
import { createSeenAccount, type Seen } from '../seen/seen.ts'
import { useAction } from '../use-action.ts'
import { CommentRow } from './CommentRow.tsx'
import styles from './DiffBody.module.css'
import { DiffRow, type GapRange } from './DiffRow.tsx'
import { type Between, diffParts, diffRows, nextChange, placeOf, type DiffRow as Row } from './diff-rows.ts'
import { type CommentPlace, type LineComments, placeIn } from './line-comments.ts'
import { type DiffLine, parseDiff, withRest } from './parse-diff.ts'
import { useColours } from './use-colours.ts'
import type { ReadLines } from './use-read-lines.ts'

export interface DiffProps {
  /** A unified diff in which the server has marked hidden characters (`shown_diff`). */
  text: string
  label?: string
  /** Called whenever more of it has been on the screen, and first with nothing. */
  onSeen?: ((seen: Seen) => void) | undefined
  /** What a file of the diff stands for. */
  thing?: string
  /** The keys `n`, `p` and `x`. Off where a page shows several diffs. */
  hasKeys?: boolean
  /** Reads the file that the diff was made from, for a diff of one file. It must stay the same function. */
  readLines?: ReadLines | undefined
  /** Whoever decides can write comments on lines. */
  comments?: LineComments | null
}

/** Narrower, and two files beside each other cannot be read. In rem. */
const WIDE = 62
const KEPT = 'quarterdeck.diff'
/** What a person has chosen for all diffs in this browser, as words: `unified`, `unwrapped`, `full`. */
type Choice = 'unified' | 'unwrapped' | 'full'

export default function DiffBody(props: DiffProps) {
  const { text, label = 'Difference', onSeen, thing = 'file', hasKeys = true, readLines, comments = null } = props
  const files = useMemo(() => {
    const parsed = parseDiff(text)
    return readLines === undefined ? parsed : parsed.map(withRest)
  }, [text, readLines])
  const account = useMemo(() => createSeenAccount(diffParts(files)), [files])
  const frame = useRef<HTMLDivElement>(null)
  const handle = useRef<SeenRowsHandle>(null)
  const isWide = useIsWide(frame)
  const { chosen, choose } = useChoices()
  // Two long lines beside each other cannot both go on beside the screen.
  const wantsSplit = !chosen.has('unified') && !chosen.has('unwrapped')
  const isSplit = isWide && wantsSplit && files.some(({ added, removed }) => added > 0 && removed > 0)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const [viewed, setViewed] = useState<ReadonlySet<number>>(new Set())
  const [between, setBetween] = useState<ReadonlyMap<string, Between>>(new Map())
  const reading = useAction()
  const colours = useColours(files, readLines)
  const [editing, setEditing] = useState<string | null>(null)
  const all = comments?.all
  const commented = useMemo(
    () =>
      new Map(
        (all ?? []).map((one) => [
          `${files.findIndex(({ name }) => name === one.path)}.${one.side}.${one.number}`,
          one,
        ]),
      ),
    [all, files],
  )
  const { rows, changes } = useMemo(() => {
    const places = new Set([...commented.keys(), ...(editing === null ? [] : [editing])])
    return diffRows(files, { isSplit, opened, closed: viewed, between, comments: places })
  }, [files, isSplit, opened, viewed, between, commented, editing])
  const [current, setCurrent] = useState<string | null>(null)

  // biome-ignore lint/correctness/useExhaustiveDependencies: another diff has not been seen yet
  useEffect(() => {
    onSeen?.(account.current())
    setOpened(new Set())
    setViewed(new Set())
    setBetween(new Map())
    setEditing(null)
    setCurrent(null)
  }, [account])

  const onOpen = useCallback((key: string) => setOpened((was) => new Set(was).add(key)), [])
  const onView = useCallback((file: number) => setViewed((was) => flipped(was, file)), [])
  const onComment = useCallback((line: DiffLine, file: number) => setEditing(placeOf(file, line)), [])
  const read = (key: string, { from, to, end }: GapRange) =>
    void reading.run(async () => {
      // The line before it is there for certain, the first one of a gap at the end of a file may not be.
      const start = Math.max(1, from - 1)
      const found = await readLines?.({ from: start, ...(to === null ? {} : { to }) })
      if (found === undefined) return
      const lines = found.lines.slice(from - start)
      setBetween((was) => {
        const { first, last } = was.get(key) ?? { first: [], last: [] }
        const next = end === 'first' ? { first: [...first, ...lines], last } : { first, last: [...lines, ...last] }
        return new Map(was).set(key, { ...next, totalLines: found.total_lines })
      })
    })
  /** The next line in the direction gets the focus, so that one can comment on it. */
  function step(key: string, by: 1 | -1): void {
    const isLine = (row: Row | undefined) => row === undefined || row.type === 'line' || row.type === 'pair'
    let index = rows.findIndex((row) => row.key === key) + by
    while (!isLine(rows[index])) index += by
    const next = frame.current?.querySelector<HTMLElement>(`[data-index="${index}"] [data-place]`)
    if (next === null || next === undefined) return
    setCurrent(rows[index]?.key ?? null)
    next.focus()
  }
  // Rows are drawn again only for what they show.
  const latest = useRef({ read, step })
  latest.current = { read, step }
  const onRead = useCallback((key: string, range: GapRange) => latest.current.read(key, range), [])
  const onStep = useCallback((key: string, by: 1 | -1) => latest.current.step(key, by), [])
  function closeComment(place: string): void {
    setEditing(null)
    if (commented.get(place)?.text.trim() === '') comments?.set(commented.get(place) as CommentPlace, null)
    frame.current?.querySelector<HTMLElement>(`[data-place="${place}"]`)?.focus()
  }

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
  function commentCurrent(): void {
    const { first, last } = handle.current?.inSight() ?? { first: 0, last: 0 }
    const change = changes.find((index) => index >= first && index <= last) ?? first
    const row = rows.find(({ key }) => key === current) ?? rows[change]
    const half = row?.type === 'line' ? row.half : row?.type === 'pair' ? (row.right ?? row.left) : null
    if (row === undefined || half === null) return
    setCurrent(row.key)
    onComment(half.line, row.file)
  }
  useKeys(
    hasKeys
      ? [
          { keys: 'n', name: 'Next change', group: 'Diff', run: () => go(1) },
          { keys: 'p', name: 'Previous change', group: 'Diff', run: () => go(-1) },
          { keys: 'x', name: `Mark the ${thing} viewed`, group: 'Diff', run: viewCurrent },
          ...(comments === null
            ? []
            : [{ keys: 'c', name: 'Comment on the line', group: 'Diff', run: commentCurrent }]),
        ]
      : [],
  )

  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  return (
    <div
      ref={frame}
      className={styles.diff}
      data-diff={chosen.has('full') ? 'full' : ''}
      data-unwrapped={chosen.has('unwrapped') || undefined}
    >
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
              onClick={() => choose(wantsSplit ? ['unified'] : [], ['unified', 'unwrapped'])}
            >
              Side by side
            </Button>
          )}
          <Button
            kind="quiet"
            aria-pressed={!chosen.has('unwrapped')}
            onClick={() => choose(chosen.has('unwrapped') ? [] : ['unwrapped'], ['unwrapped'])}
          >
            Wrap lines
          </Button>
          <span className={styles.full}>
            <Button
              kind="quiet"
              aria-pressed={chosen.has('full')}
              onClick={() => choose(chosen.has('full') ? [] : ['full'], ['full'])}
            >
              Full width
            </Button>
          </span>
          {comments !== null && (
            <Button kind="quiet" hint={hasKeys ? 'c' : undefined} onClick={commentCurrent}>
              Comment
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
      {reading.error !== null && (
        <p className={styles.problem} role="alert">
          {errorText(reading.error)}
        </p>
      )}
      <SeenRows
        ref={handle}
        isWrapped={!chosen.has('unwrapped')}
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
          if (row.type === 'comment') {
            const { place, line } = row
            const comment = commented.get(place)
            const at = comment ?? placeIn(file, line)
            const close = () => closeComment(place)
            return (
              <CommentRow
                place={at}
                about={at.quote === placeIn(file, line).quote ? null : at.quote}
                text={comment?.text ?? ''}
                isOpen={editing === place}
                onChange={(text) => comments?.set(at, text)}
                onOpen={() => setEditing(place)}
                onClose={close}
                onDelete={() => {
                  comments?.set(at, null)
                  setEditing(null)
                }}
              />
            )
          }
          return (
            <DiffRow
              row={row}
              file={file}
              isViewed={viewed.has(row.file)}
              isCurrent={row.key === current}
              onOpen={onOpen}
              onView={onView}
              colours={colours.get(row.file)}
              onRead={readLines === undefined ? null : onRead}
              onComment={comments === null ? null : onComment}
              onStep={onStep}
            />
          )
        }}
      </SeenRows>
    </div>
  )
}

function useChoices() {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(siteStorage.getItem(KEPT)?.split(' ')))
  /** Puts these in the place of those. */
  function choose(put: readonly Choice[], off: readonly Choice[]): void {
    const next = new Set([...[...chosen].filter((one) => !off.some((name) => name === one)), ...put])
    siteStorage.setItem(KEPT, [...next].join(' '))
    setChosen(next)
  }
  return { chosen, choose }
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
