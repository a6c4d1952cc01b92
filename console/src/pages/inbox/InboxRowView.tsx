import { Link } from 'wouter'
import { useOtherOwner } from '../../data/me.ts'
import { MarkIcon } from '../../parts/approval/MarkIcon.tsx'
import { TimeLeft } from '../../parts/approval/TimeLeft.tsx'
import { Badge, OutcomeBadge, RiskShape, riskWords } from '../../parts/Badge.tsx'
import { Time } from '../../parts/Time.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import styles from './InboxRowView.module.css'
import type { InboxRow } from './inbox-rows.ts'

interface InboxRowViewProps {
  row: InboxRow
  href: string
  isOpen: boolean
  /** The keys are here, although it is not open. */
  isMarked: boolean
}

/** One line of the inbox: what, who waits, since when, and how long. */
export function InboxRowView({ row: { item, isGone }, href, isOpen, isMarked }: InboxRowViewProps) {
  const { view } = item
  const owner = useOtherOwner(view.owner)
  const isWaiting = !isGone && view.outcome === null
  return (
    <Link
      href={href}
      className={styles.row}
      aria-current={isOpen ? 'true' : undefined}
      data-marked={isMarked || undefined}
      data-done={!isWaiting || undefined}
    >
      <span className={styles.sign}>
        {view.risk === null ? <MarkIcon mark={view.mark} /> : <RiskShape risk={view.risk.level} />}
        <span className="unseen">{view.risk === null ? view.label : riskWords[view.risk.level]}: </span>
      </span>
      <span className={styles.title}>
        <VisibleText text={view.title} inline isRaw />
        {view.gist !== '' && (
          <span className={styles.gist}>
            {' '}
            <VisibleText text={view.gist} inline isRaw />
          </span>
        )}
      </span>
      <span className={styles.age}>
        <Time at={view.outcome?.at ?? view.asked_at} />
      </span>
      <span className={styles.who}>
        <bdi>{view.agent}</bdi>
        {owner !== null && (
          <>
            {' · for '}
            <bdi>{owner}</bdi>
          </>
        )}
      </span>
      <span className={styles.left}>
        {isWaiting && view.expires_at !== null && <TimeLeft until={view.expires_at} coarse />}
        {isGone ? <Badge>Done</Badge> : !isWaiting && <OutcomeBadge outcome={view.outcome} />}
      </span>
    </Link>
  )
}
