import { memo, useEffect, useMemo, useState } from 'react'
import { counted, fullCount } from '../../words.ts'
import { Button } from '../Button.tsx'
import { VisibleText } from '../VisibleText.tsx'
import type { ChangedWords } from './changed-words.ts'
import styles from './DiffRow.module.css'
import type { Half, DiffRow as Row } from './diff-rows.ts'
import type { DiffFile } from './parse-diff.ts'
import { segmentsOf } from './segments.ts'

interface DiffRowProps {
  row: Row
  file: DiffFile
  isViewed: boolean
  isCurrent: boolean
  onOpen: (key: string) => void
  onView: (file: number) => void
}

/** One row of a diff. Nothing in it is coloured by language: that could hide something. */
export const DiffRow = memo(function DiffRow({ row, file, isViewed, isCurrent, onOpen, onView }: DiffRowProps) {
  switch (row.type) {
    case 'file':
      return <FileRow file={file} isViewed={isViewed} onView={() => onView(row.file)} />
    case 'gap':
      return (
        <div className={styles.gap}>
          {row.skipped > 0 && <span>{counted(row.skipped, 'line')} not in the diff</span>}
          {row.text !== '' && <VisibleText text={row.text} inline />}
        </div>
      )
    case 'fold':
      return (
        <button type="button" className={styles.fold} onClick={() => onOpen(row.key)}>
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
          <LineText half={row.half} />
        </div>
      )
    case 'pair':
      return (
        <div className={styles.pair} data-current={isCurrent || undefined}>
          <Side half={row.left} side="old" />
          <Side half={row.right} side="new" />
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

function Side({ half, side }: { half: Half | null; side: 'old' | 'new' }) {
  if (half === null) return <div className={styles.blank} />
  return (
    <div className={styles.side}>
      <LineNumber half={half} side={side} />
      <LineText half={half} />
    </div>
  )
}

const signs = { same: ' ', add: '+', remove: '−' } as const
const signNames = { same: '', add: 'Added: ', remove: 'Removed: ' } as const

function LineText({ half }: { half: Half }) {
  const { line, from, to } = half
  const words = useChangedWords(half)
  const changed = line.type === 'remove' ? words?.before : words?.after
  // Only lines of one piece are compared word by word, and only the piece in sight is looked at: the line may be a megabyte.
  const segments = useMemo(() => segmentsOf(line.text.slice(from, to), changed ?? []), [line, from, to, changed])
  return (
    <>
      <span className={`${styles.sign} ${styles[line.type]}`} aria-hidden="true">
        {from === 0 ? signs[line.type] : '↪'}
      </span>
      <code className={`${styles.text} ${styles[line.type]}`} dir="ltr">
        {line.type !== 'same' && <span className="unseen">{signNames[line.type]}</span>}
        {segments.map(({ text, isMark, isChanged }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the segments never change places
          <span key={i} className={isChanged ? styles.changed : undefined}>
            {isMark ? <VisibleText text={text} inline /> : text}
          </span>
        ))}
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
