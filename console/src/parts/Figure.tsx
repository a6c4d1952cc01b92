import type { ReactNode } from 'react'
import styles from './Figure.module.css'

/** Figures beside each other. `columns`: a class that says how many. */
export const FigureList = ({ columns, children }: { columns: string | undefined; children: ReactNode }) => (
  <dl className={`${styles.figures} ${columns}`}>{children}</dl>
)

interface FigureProps {
  name: string
  value: string
  note: string
  /** Below or beside them. */
  children?: ReactNode
}

export function Figure({ name, value, note, children }: FigureProps) {
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd className={styles.value}>{value}</dd>
      <dd className={styles.note}>{note}</dd>
      {children}
    </div>
  )
}
