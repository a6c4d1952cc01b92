import { type ReactNode, useId } from 'react'
import { ClosedIcon, OpenedIcon } from '../icons.ts'
import styles from './Fold.module.css'

interface FoldProps {
  icon: ReactNode
  title: ReactNode
  /** Beside the title, cut at the end of the line. */
  line?: string
  /** At the end of the line: a status. */
  end?: ReactNode
  isOpen: boolean
  onToggle: (isOpen: boolean) => void
  isFramed?: boolean
  children: ReactNode
}

/** A line that opens. */
export function Fold({ icon, title, line, end, isOpen, onToggle, isFramed = false, children }: FoldProps) {
  const id = useId()
  return (
    <section className={`${styles.fold} ${isFramed ? styles.framed : ''}`}>
      <button
        type="button"
        className={styles.head}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => onToggle(!isOpen)}
      >
        {icon}
        <span className={styles.title}>{title}</span>
        {line !== undefined && line !== '' && <bdi className={styles.line}>{line}</bdi>}
        <span className={styles.end}>
          {end}
          {isOpen ? <OpenedIcon /> : <ClosedIcon />}
        </span>
      </button>
      {isOpen && (
        <div id={id} className={styles.body}>
          {children}
        </div>
      )}
    </section>
  )
}
