import { useEffect, useMemo } from 'react'
import { VisibleText } from '../VisibleText.tsx'
import { SeenRows } from './SeenRows.tsx'
import styles from './SeenText.module.css'
import { createSeenAccount, type Seen } from './seen.ts'
import { textRows } from './text-pieces.ts'

interface SeenTextProps {
  text: string
  label: string
  onSeen?: ((seen: Seen) => void) | undefined
}

/** A text that somebody decides about: all of it, wrapped, with marks, however long it is. It tells what of it was on the screen. */
export function SeenText({ text, label, onSeen }: SeenTextProps) {
  const rows = useMemo(() => textRows(text), [text])
  const account = useMemo(
    () =>
      createSeenAccount(rows.map((row, i) => ({ key: row.key, size: row.text.length, isEnd: i === rows.length - 1 }))),
    [rows],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text has not been seen yet
  useEffect(() => onSeen?.(account.current()), [account])
  return (
    <div className={styles.text}>
      <SeenRows
        count={rows.length}
        keyOf={(index) => rows[index]?.key ?? String(index)}
        rowHeight={20}
        label={label}
        onSeen={(indexes) => {
          if (account.add(indexes.map((index) => rows[index]?.key ?? ''))) onSeen?.(account.current())
        }}
      >
        {(index) => (
          <div className={styles.line}>
            <VisibleText text={rows[index]?.text ?? ''} />
          </div>
        )}
      </SeenRows>
    </div>
  )
}
