import { useEffect, useMemo, useRef, useState } from 'react'
import { useKeys } from '../../app/Keys.tsx'
import { errorText } from '../../error-text.ts'
import { Button, IconButton } from '../Button.tsx'
import { flipped } from '../flipped.ts'
import { NextIcon, PreviousIcon } from '../icons.ts'
import { SeenRows, type SeenRowsHandle } from '../seen/SeenRows.tsx'
import { createSeenAccount, type Seen } from '../seen/seen.ts'
import { CommentRow } from './CommentRow.tsx'
import { DiffBar, useLook } from './DiffBar.tsx'
import styles from './DiffBody.module.css'
import { DiffRow, type RowActions } from './DiffRow.tsx'
import { diffParts, diffRows, halvesOf, nextChange, placeOf, type DiffRow as Row } from './diff-rows.ts'
import type { LineComments } from './line-comments.ts'
import { useLinesBetween } from './lines-between.ts'
import { parseDiff, withRest } from './parse-diff.ts'
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

/** One diff. Another text is another one, of which nothing was seen or opened. */
export default function DiffBody(props: DiffProps) {
  const { text, label = 'Difference', onSeen, thing = 'file', hasKeys = true, readLines, comments = null } = props
  const files = useMemo(() => {
    const parsed = parseDiff(text)
    return readLines === undefined ? parsed : parsed.map(withRest)
  }, [text, readLines])
  const account = useMemo(() => createSeenAccount(diffParts(files)), [files])
  // biome-ignore lint/correctness/useExhaustiveDependencies: nothing of it has been seen yet
  useEffect(() => {
    onSeen?.(account.current())
  }, [account])

  const frame = useRef<HTMLDivElement>(null)
  const list = useRef<SeenRowsHandle>(null)
  const look = useLook(frame)
  const isSplit = look.isWide && look.wantsSplit && files.some(({ added, removed }) => added > 0 && removed > 0)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const [viewed, setViewed] = useState<ReadonlySet<number>>(new Set())
  const { between, read, error } = useLinesBetween(readLines)
  useEffect(() => {
    // The button that opened them is gone. The keys go on scrolling from here.
    if (between.size + opened.size > 0 && document.activeElement === document.body)
      frame.current?.focus({ preventScroll: true })
  }, [between, opened])
  const colours = useColours(files, readLines)
  /** Place of the line that somebody comments on now. */
  const [editing, setEditing] = useState<string | null>(null)
  const all = comments?.all
  const commented = useMemo(() => {
    const indexOf = (path: string) => files.findIndex(({ name }) => (name ?? '') === path)
    return new Map(all?.map((one) => [`${indexOf(one.path)}.${one.side}.${one.number}`, one]))
  }, [all, files])
  const { rows, changes } = useMemo(() => {
    const places = new Set([...commented.keys(), ...(editing === null ? [] : [editing])])
    return diffRows(files, { isSplit, opened, closed: viewed, between, comments: places })
  }, [files, isSplit, opened, viewed, between, commented, editing])

  /** Key of the row that somebody has gone to. */
  const [current, setCurrent] = useState<string | null>(null)
  const currentRow = () => rows.find(({ key }) => key === current)
  const inSight = () => list.current?.inSight() ?? { first: 0, last: 0 }
  function go(step: 1 | -1): void {
    const { first, last } = inSight()
    const at = rows.findIndex(({ key }) => key === current)
    const isInSight = at >= first && at <= last
    // Who has scrolled away goes on from what is in sight.
    const next = nextChange(changes, isInSight ? at : step === 1 ? first - 1 : last + 1, step)
    if (next === null) return
    setCurrent(rows[next]?.key ?? null)
    list.current?.scrollTo(next)
  }
  const view = (file: number) => setViewed((was) => flipped(was, file))
  function viewCurrent(): void {
    const row = currentRow() ?? rows[inSight().first]
    if (row !== undefined) view(row.file)
  }
  function commentCurrent(): void {
    const { first, last } = inSight()
    const row = currentRow() ?? rows[changes.find((index) => index >= first && index <= last) ?? first]
    const half = row === undefined ? undefined : halvesOf(row).at(-1)
    if (row === undefined || half === undefined) return
    setCurrent(row.key)
    setEditing(placeOf(row.file, half.line))
  }
  const find = (place: string) => frame.current?.querySelector<HTMLElement>(place) ?? null
  const actions = useRef<RowActions>(null)
  actions.current = {
    open: (key) => setOpened((was) => new Set(was).add(key)),
    view,
    read,
    comment: setEditing,
    step(key, by) {
      let index = rows.findIndex((row) => row.key === key) + by
      const isLine = (row: Row | undefined) => row === undefined || halvesOf(row).some(({ from }) => from === 0)
      while (!isLine(rows[index])) index += by
      const next = find(`[data-index="${index}"] [data-place]`)
      if (next === null) return
      setCurrent(rows[index]?.key ?? null)
      next.focus()
    },
  }
  const commentKey = { keys: 'c', name: 'Comment on the line', group: 'Diff', run: commentCurrent }
  const keys = [
    { keys: 'n', name: 'Next change', group: 'Diff', run: () => go(1) },
    { keys: 'p', name: 'Previous change', group: 'Diff', run: () => go(-1) },
    { keys: 'x', name: `Mark the ${thing} viewed`, group: 'Diff', run: viewCurrent },
    ...(comments === null ? [] : [commentKey]),
  ]
  useKeys(hasKeys ? keys : [])

  const hasNone = changes.length === 0
  return (
    <div
      ref={frame}
      tabIndex={-1}
      className={styles.diff}
      data-diff={look.isFull ? 'full' : ''}
      data-unwrapped={!look.isWrapped || undefined}
    >
      <DiffBar files={files} thing={thing} viewed={viewed.size} look={look}>
        {comments !== null && (
          <Button kind="quiet" hint={hasKeys ? 'c' : undefined} onClick={commentCurrent}>
            Comment
          </Button>
        )}
        <IconButton label="Previous change" icon={<PreviousIcon />} onClick={() => go(-1)} disabled={hasNone} />
        <IconButton label="Next change" icon={<NextIcon />} onClick={() => go(1)} disabled={hasNone} />
      </DiffBar>
      {error !== null && (
        <p className={styles.problem} role="alert">
          {errorText(error)}
        </p>
      )}
      <SeenRows
        ref={list}
        isWrapped={look.isWrapped}
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
          if (row.type !== 'comment') {
            return (
              <DiffRow
                row={row}
                file={file}
                isViewed={viewed.has(row.file)}
                isCurrent={row.key === current}
                colours={colours.get(row.file)}
                canRead={readLines !== undefined}
                canComment={comments !== null}
                actions={actions}
              />
            )
          }
          return (
            <CommentRow
              file={file}
              line={row.line}
              comment={commented.get(row.place)}
              isOpen={editing === row.place}
              onChange={(place, text) => comments?.set(place, text)}
              onOpen={() => setEditing(row.place)}
              onClose={() => {
                setEditing(null)
                find(`[data-place="${row.place}"]`)?.focus()
              }}
            />
          )
        }}
      </SeenRows>
    </div>
  )
}
