import type { InboxItem } from 'quarterdeck/client'
import { Link } from 'wouter'
import { useOtherOwner } from '../../data/me.ts'
import { approvalGist, approvalTitle } from '../../parts/approval/approval-title.ts'
import { TimeLeft } from '../../parts/approval/TimeLeft.tsx'
import { Badge, RiskShape } from '../../parts/Badge.tsx'
import { AlertIcon, PromptIcon, WaitIcon } from '../../parts/icons.ts'
import { Time } from '../../parts/Time.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import { kindWord, statusTone, statusWord } from '../../words.ts'
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
  const owner = useOtherOwner(item.owner)
  const isWaiting = !isGone && item.decided_at === null && waiting.has(item.status)
  return (
    <Link
      href={href}
      className={styles.row}
      aria-current={isOpen ? 'true' : undefined}
      data-marked={isMarked || undefined}
      data-done={!isWaiting || undefined}
    >
      <span className={styles.sign}>
        <Sign item={item} />
      </span>
      <span className={styles.title}>
        <Title item={item} />
      </span>
      <span className={styles.age}>
        <Time at={item.decided_at ?? item.created_at} />
      </span>
      <span className={styles.who}>
        <bdi>{item.agent}</bdi>
        {owner !== null && (
          <>
            {' · for '}
            <bdi>{owner}</bdi>
          </>
        )}
      </span>
      <span className={styles.left}>
        {isWaiting ? (
          item.expires_at !== null && <TimeLeft until={item.expires_at} coarse />
        ) : (
          <Badge tone={isGone ? 'neutral' : statusTone(item.status)}>{isGone ? 'Done' : statusWord(item.status)}</Badge>
        )}
      </span>
    </Link>
  )
}

function Title({ item }: { item: InboxItem }) {
  if (item.kind !== 'approval') return <VisibleText text={item.title} inline />
  const gist = approvalGist(item.approval)
  return (
    <>
      <VisibleText text={approvalTitle(item.approval)} inline />
      {gist !== '' && (
        <span className={styles.gist}>
          {' '}
          <VisibleText text={gist} inline />
        </span>
      )}
    </>
  )
}

const waiting: ReadonlySet<string> = new Set(['pending', 'waiting', 'nudged', 'escalated'])

const riskNames = { low: 'Low risk', high: 'High risk', critical: 'Critical' } as const

/** The shape of its risk, or the picture of its kind. */
function Sign({ item }: { item: InboxItem }) {
  if (item.risk !== null) {
    return (
      <>
        <RiskShape risk={item.risk} />
        <span className="unseen">{riskNames[item.risk]}: </span>
      </>
    )
  }
  return (
    <>
      {item.kind === 'prompt' && <PromptIcon aria-hidden="true" />}
      {item.kind === 'wait' && <WaitIcon aria-hidden="true" />}
      {item.kind === 'alert' && <AlertIcon aria-hidden="true" />}
      <span className="unseen">{kindWord(item.kind)}: </span>
    </>
  )
}
