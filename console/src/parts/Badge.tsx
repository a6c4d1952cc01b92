import type { RecordView } from 'quarterdeck/client'
import type { ReactNode } from 'react'
import styles from './Badge.module.css'

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad'

/** A short word about a thing: a status, a kind, a count. */
export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`${styles.badge} ${styles[tone]}`}>{children}</span>
}

export type Risk = 'low' | 'high' | 'critical'

export const riskWords: Readonly<Record<Risk, string>> = { low: 'Low risk', high: 'High risk', critical: 'Critical' }

/** Each risk has its own shape, so that nobody needs to see colours: a ring, a triangle, an octagon. */
export function RiskBadge({ risk }: { risk: Risk }) {
  return (
    <span className={`${styles.badge} ${styles[risk]}`}>
      <RiskShape risk={risk} />
      {riskWords[risk]}
    </span>
  )
}

export function RiskShape({ risk }: { risk: Risk }) {
  return (
    <svg viewBox="0 0 12 12" aria-hidden="true" className={`${styles.shape} ${styles[risk]}`}>
      {risk === 'low' && <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="2" />}
      {risk === 'high' && <path d="M6 1 11.5 11H.5z" fill="currentColor" />}
      {risk === 'critical' && <path d="M3.8.5h4.4l3.3 3.3v4.4l-3.3 3.3H3.8L.5 8.2V3.8z" fill="currentColor" />}
    </svg>
  )
}

/** What has become of a record. `isNamed`: also who decided. */
export function OutcomeBadge({ outcome, isNamed = false }: Pick<RecordView, 'outcome'> & { isNamed?: boolean }) {
  if (outcome === null) return <Badge tone="accent">Waiting</Badge>
  return (
    <Badge tone={outcome.tone}>
      {outcome.word}
      {isNamed && outcome.by !== null && ` by ${outcome.by}`}
    </Badge>
  )
}
