import type { EventInterrupt } from 'quarterdeck/client'
import { Link } from 'wouter'
import { CutText } from '../CutText.tsx'
import { ApprovalIcon } from '../icons.ts'
import styles from './Question.module.css'

/** Here the run stopped and asked a person. */
export function Question({ interrupt, isDocked }: { interrupt: EventInterrupt; isDocked: boolean }) {
  return (
    <section className={styles.question}>
      <ApprovalIcon aria-hidden="true" />
      <div>
        <h2>A person was asked</h2>
        {interrupt.message !== undefined && <CutText text={interrupt.message} first={400} />}
      </div>
      {isDocked ? <span>See below</span> : <Link href={`/inbox/${interrupt.id}`}>Show the decision</Link>}
    </section>
  )
}
