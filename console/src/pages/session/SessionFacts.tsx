import type { Session } from 'quarterdeck/client'
import { Link } from 'wouter'
import { useOtherOwner } from '../../data/me.ts'
import { Badge } from '../../parts/Badge.tsx'
import { Fact } from '../../parts/Page.tsx'
import { Time } from '../../parts/Time.tsx'
import { fullCount, shortCount, statusTone, statusWord } from '../../words.ts'
import styles from './SessionFacts.module.css'
import { costWord } from './timeline/step-cost.ts'
import { useSessionUsage } from './use-session.ts'

/** What one wants to know at first sight: what it does, whose it is, where, since when, and what it used. */
export function SessionFacts({ session }: { session: Session }) {
  const {
    supervision,
    status,
    failure = '',
    pending,
    agent,
    owner,
    created_at,
    message_count,
    tokens,
    session_id,
  } = session
  const { data: used } = useSessionUsage(session_id, created_at)
  const state = supervision?.status ?? status
  const other = useOtherOwner(owner)
  return (
    <dl className={styles.facts}>
      <Fact name="State">
        <Badge tone={statusTone(state)}>{statusWord(state)}</Badge>
        {pending > 0 && (
          <Link href={`/inbox?session=${encodeURIComponent(session_id)}`} className={styles.waiting}>
            {pending} to decide
          </Link>
        )}
      </Fact>
      {failure !== '' && (
        <Fact name="Failure">
          <bdi>{failure}</bdi>
        </Fact>
      )}
      {supervision === undefined ? (
        <Fact name="Agent">
          <Link href={`/agents/${encodeURIComponent(agent)}`}>{agent}</Link>
        </Fact>
      ) : (
        <>
          <Fact name="Program">{supervision.host}</Fact>
          <Fact name="Folder">
            <code className={styles.path} title={supervision.workspace_root}>
              <bdi>{supervision.workspace_root}</bdi>
            </code>
          </Fact>
          {supervision.crash !== null && (
            <Fact name="Crash">
              <bdi>{supervision.crash}</bdi>
            </Fact>
          )}
        </>
      )}
      {other !== null && (
        <Fact name="Owner">
          <bdi>{other}</bdi>
        </Fact>
      )}
      <Fact name="Started">
        <Time at={created_at} />
      </Fact>
      {message_count > 0 && (
        <Fact name="Messages" title={fullCount(message_count)}>
          {shortCount(message_count)}
        </Fact>
      )}
      {tokens > 0 && (
        <Fact name="Tokens" title={fullCount(tokens)}>
          {shortCount(tokens)}
        </Fact>
      )}
      {!session.hosted && used !== undefined && used.total.runs > 0 && (
        <Fact name="Cost" {...(used.total.cost === null ? { title: 'A model of this session has no price.' } : {})}>
          {costWord(used.total.cost, used.prices.currency)}
        </Fact>
      )}
    </dl>
  )
}
