import { type ReactNode, useRef } from 'react'
import { useKeys } from '../../../app/Keys.tsx'
import { Button } from '../../../parts/Button.tsx'
import { BackIcon } from '../../../parts/icons.ts'
import { Empty } from '../../../parts/States.tsx'
import { type RowsHandle, VirtualRows } from '../../../parts/VirtualRows.tsx'
import { VisibleText } from '../../../parts/VisibleText.tsx'
import styles from './FilePanes.module.css'

interface FilePanesProps<T> {
  items: readonly T[]
  idOf: (item: T) => string
  label: string
  /** What the list is about, above it. */
  head: ReactNode
  row: (item: T) => ReactNode
  chosen: string | null
  onChoose: (id: string | null) => void
  onEnd?: (() => void) | undefined
  children: (item: T) => ReactNode
}

const ROW = 52

/** Files beside the difference in one of them. On a phone, one after the other. */
export function FilePanes<T>({ items, idOf, label, head, row, chosen, onChoose, onEnd, children }: FilePanesProps<T>) {
  const handle = useRef<RowsHandle>(null)
  const at = items.findIndex((item) => idOf(item) === chosen)
  const current = items[at]
  function go(index: number): void {
    const item = items[Math.min(items.length - 1, Math.max(0, index))]
    if (item === undefined) return
    onChoose(idOf(item))
    handle.current?.scrollToIndex(items.indexOf(item))
  }
  const group = 'Workspace'
  useKeys([
    { keys: 'j', name: 'Next file', group, run: () => go(at + 1) },
    { keys: 'k', name: 'Previous file', group, run: () => go(at === -1 ? 0 : at - 1) },
    { keys: 'Escape', name: 'Back to the list', group, run: () => onChoose(null) },
  ])
  return (
    <div className={styles.panes} data-chosen={current !== undefined || undefined} data-beside="">
      <div className={styles.list}>
        <div className={styles.head}>{head}</div>
        <VirtualRows ref={handle} items={items} keyOf={idOf} rowHeight={ROW} label={label} onEnd={onEnd}>
          {(item) => (
            <button
              type="button"
              className={styles.row}
              aria-pressed={idOf(item) === chosen}
              onClick={() => onChoose(idOf(item))}
            >
              {row(item)}
            </button>
          )}
        </VirtualRows>
      </div>
      <div className={styles.detail}>
        {current === undefined ? (
          <Empty title="Choose a file">Its difference is shown here.</Empty>
        ) : (
          <>
            <div className={styles.back}>
              <Button kind="quiet" icon={<BackIcon />} onClick={() => onChoose(null)}>
                All files
              </Button>
            </div>
            {children(current)}
          </>
        )}
      </div>
    </div>
  )
}

/** A path with its file name standing out, and a line below. */
export function FileName({ path, about }: { path: string; about: string }) {
  const cut = path.lastIndexOf('/') + 1
  return (
    <span className={styles.file}>
      <span className={styles.name}>
        <VisibleText text={path.slice(cut)} inline />
      </span>
      <span className={styles.about}>
        {cut > 0 && <VisibleText text={`${path.slice(0, cut)} · `} inline />}
        {about}
      </span>
    </span>
  )
}
