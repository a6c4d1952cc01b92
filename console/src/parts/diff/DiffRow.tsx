import { type KeyboardEvent, memo, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { counted, fullCount } from '../../words.ts'
import { Button } from '../Button.tsx'
import { VisibleText } from '../VisibleText.tsx'
import type { ChangedWords } from './changed-words.ts'
import { type FileColours, paint, tonesOf } from './colours.ts'
import styles from './DiffRow.module.css'
import { type Half, lineName, placeOf, type DiffRow as Row } from './diff-rows.ts'
import { type GapRange, gapRanges } from './lines-between.ts'
import type { DiffFile } from './parse-diff.ts'
import { segmentsOf } from './segments.ts'

/** What can be done at a row. */
export interface RowActions {
  open: (key: string) => void
  view: (file: number) => void
  read: (key: string, range: GapRange) => void
  comment: (place: string) => void
  /** The next line in the direction gets the focus, so that one can comment on it. */
  step: (key: string, by: 1 | -1) => void
}

interface DiffRowProps {
  row: Exclude<Row, { type: 'comment' }>
  file: DiffFile
  isViewed: boolean
  isCurrent: boolean
  colours: FileColours | undefined
  canRead: boolean
  canComment: boolean
  /** The newest ones. Rows are drawn again only for what they show. */
  actions: RefObject<RowActions | null>
}

/** One row of a diff. Colours of its language only change the colour of its letters: marks and changed words stay above them. */
export const DiffRow = memo(function DiffRow(props: DiffRowProps) {
  const { row, file, isViewed, isCurrent, canRead, actions } = props
  switch (row.type) {
    case 'file':
      return <FileRow file={file} isViewed={isViewed} onView={() => actions.current?.view(row.file)} />
    case 'gap':
      return (
        <div className={styles.gap}>
          {(row.gap.left ?? 0) > 0 && <span>{counted(row.gap.left ?? 0, 'line')} not in the diff</span>}
          {canRead &&
            gapRanges(row.gap).map((range) => (
              <button
                key={range.name}
                type="button"
                className={styles.read}
                onClick={() => actions.current?.read(row.key, range)}
              >
                {range.name}
              </button>
            ))}
          {row.text !== '' && <VisibleText text={row.text} inline />}
        </div>
      )
    case 'fold':
      return (
        <button type="button" className={styles.fold} onClick={() => actions.current?.open(row.key)}>
          Show {counted(row.count, 'unchanged line')}
        </button>
      )
    case 'note':
      return (
        <div className={styles.note}>
          <VisibleText text={row.text} />
        </div>
      )
    case 'line':
      return (
        <div className={styles.line} data-current={isCurrent || undefined}>
          <LineNumber half={row.half} side="old" />
          <LineNumber half={row.half} side="new" />
          <LineText half={row.half} {...props} />
        </div>
      )
    case 'pair':
      return (
        <div className={styles.pair} data-current={isCurrent || undefined}>
          <Side half={row.left} side="old" {...props} />
          <Side half={row.right} side="new" {...props} />
        </div>
      )
  }
})

const fileWords: Readonly<Record<DiffFile['kind'], string>> = { create: 'New', modify: 'Changed', delete: 'Deleted' }

function FileRow({ file, isViewed, onView }: { file: DiffFile; isViewed: boolean; onView: () => void }) {
  return (
    <div className={styles.file}>
      <span className={styles.name}>
        {file.name === null ? 'Text' : <VisibleText text={file.name} inline />}
        {file.formerName !== null && (
          <>
            {' '}
            <span className={styles.former}>
              was <VisibleText text={file.formerName} inline />
            </span>
          </>
        )}
      </span>
      <span className={styles.facts}>
        <span>{fileWords[file.kind]}</span>
        {file.added > 0 && <span className={styles.added}>+{fullCount(file.added)}</span>}
        {file.removed > 0 && <span className={styles.removed}>−{fullCount(file.removed)}</span>}
        <Button kind="quiet" aria-pressed={isViewed} onClick={onView} hint="x">
          {isViewed ? 'Viewed: open' : 'Mark viewed'}
        </Button>
      </span>
    </div>
  )
}

function LineNumber({ half: { line, from }, side }: { half: Half; side: 'old' | 'new' }) {
  return (
    <span className={styles.number} aria-hidden="true">
      {from === 0 ? line[`${side}Number`] : ''}
    </span>
  )
}

type LineProps = Pick<DiffRowProps, 'row' | 'colours' | 'isCurrent' | 'canComment' | 'actions'>

function Side({ half, side, ...props }: LineProps & { half: Half | null; side: 'old' | 'new' }) {
  if (half === null) return <div className={styles.blank} />
  return (
    <div className={styles.side}>
      <LineNumber half={half} side={side} />
      <LineText half={half} {...props} />
    </div>
  )
}

/** Its sign. Where one can comment, it is a button as wide as the numbers beside it. */
function Sign({ half: { line, from }, row, isCurrent, canComment, actions }: LineProps & { half: Half }) {
  const look = `${styles.sign} ${styles[line.type]}`
  const sign = from === 0 ? signs[line.type] : '↪'
  if (!canComment || from > 0) {
    return (
      <span className={look} aria-hidden="true">
        {sign}
      </span>
    )
  }
  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1 as const, ArrowUp: -1 as const }[event.key]
    if (step === undefined) return
    event.preventDefault()
    actions.current?.step(row.key, step)
  }
  const place = placeOf(row.file, line)
  return (
    <button
      type="button"
      className={look}
      data-place={place}
      tabIndex={isCurrent ? 0 : -1}
      aria-label={`Comment on ${lineName(line)}`}
      onKeyDown={onKeyDown}
      onClick={() => actions.current?.comment(place)}
    >
      {sign}
    </button>
  )
}

const signs = { same: ' ', add: '+', remove: '−' } as const

function LineText({ half, ...props }: LineProps & { half: Half }) {
  const { colours } = props
  const { line, from, to } = half
  const code = useRef<HTMLElement>(null)
  const words = useChangedWords(half)
  const changed = line.type === 'remove' ? words?.before : words?.after
  // Only lines of one piece are compared word by word, and only the piece in sight is looked at: the line may be a megabyte.
  const segments = useMemo(() => segmentsOf(line.text.slice(from, to), changed ?? []), [line, from, to, changed])
  const tones = useMemo(() => (colours === undefined ? [] : tonesOf(colours, line)), [colours, line])
  useLayoutEffect(() => {
    if (code.current === null || tones.length === 0) return
    return paint([...code.current.childNodes], segments, tones, from)
  }, [tones, segments, from])
  return (
    <>
      <Sign half={half} {...props} />
      <code ref={code} className={`${styles.text} ${styles[line.type]}`} dir="ltr">
        {segments.map(({ text, isMark, isChanged }, i) =>
          isMark || isChanged ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the segments never change places
            <span key={i} className={isChanged ? styles.changed : undefined}>
              {isMark ? <VisibleText text={text} inline /> : text}
            </span>
          ) : (
            text
          ),
        )}
      </code>
    </>
  )
}

type Compare = (before: string, after: string) => ChangedWords | null
let compare: Compare | null = null

/** Only rows in sight are in the page, so only those are compared. */
function useChangedWords({ line, partner, from, to }: Half): ChangedWords | null {
  const [compareNow, setCompare] = useState<Compare | null>(() => compare)
  useEffect(() => {
    if (partner === null || compareNow !== null) return
    let isGone = false
    void import('./changed-words.ts').then(({ changedWords }) => {
      compare = changedWords
      if (!isGone) setCompare(() => changedWords)
    })
    return () => {
      isGone = true
    }
  }, [partner, compareNow])
  const isWhole = from === 0 && to === line.text.length
  return useMemo(() => {
    if (partner === null || compareNow === null || !isWhole) return null
    return line.type === 'remove' ? compareNow(line.text, partner.text) : compareNow(partner.text, line.text)
  }, [line, partner, compareNow, isWhole])
}
