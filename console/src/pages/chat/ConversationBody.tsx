import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { isUnknownSession } from '../../data/session-id.ts'
import type { useSessionLog } from '../../data/session-log.ts'
import type { TranscriptItem } from '../../data/transcript.ts'
import type { useBranch } from '../../data/use-branch.ts'
import { useLiveState } from '../../data/use-live.tsx'
import { ChatIcon } from '../../parts/icons.ts'
import { Empty, Failed, Loading } from '../../parts/States.tsx'
import { preciseTime } from '../../parts/Time.tsx'
import { Transcript } from '../../parts/transcript/Transcript.tsx'
import styles from './Conversation.module.css'

interface ConversationBodyProps {
  log: ReturnType<typeof useSessionLog>
  branch: ReturnType<typeof useBranch>
  isKnown: boolean
  agent: string
  isRunning: boolean
  docked: readonly string[]
  outgoing: ReactNode
  hasOutgoing: boolean
}

/** The transcript, or why there is none. */
export function ConversationBody({
  log,
  branch,
  isKnown,
  agent,
  isRunning,
  docked,
  outgoing,
  hasOutgoing,
}: ConversationBodyProps) {
  const oldSince = useOldSince()
  const hidden = useMemo(() => new Set(docked), [docked])
  const { items, isCurrent } = branch
  if (isKnown && (log.status === 'loading' || branch.isSearching) && !hasOutgoing)
    return <Filler>{<Loading rows={3} height={96} />}</Filler>
  if (log.status === 'failed' && items.length === 0) {
    return (
      <Filler>
        {isUnknownSession(log.error) ? (
          <Empty title="There is no such chat" icon={<ChatIcon />}>
            It was deleted, or the address is not complete. <Link href="/chat">Begin a new chat</Link>
          </Empty>
        ) : (
          <Failed error={log.error} onRetry={log.reload} />
        )}
      </Filler>
    )
  }
  const footer =
    isCurrent && (hasOutgoing || isRunning) ? (
      <div className={styles.footer}>
        {isRunning && !isWriting(items) && <Working text={`${agent} is at work`} />}
        {hasOutgoing && outgoing}
      </div>
    ) : null
  return (
    <div className={styles.talk} data-old={oldSince !== null || undefined}>
      {oldSince !== null && <p className={styles.asOf}>As of {preciseTime(oldSince)}. It may have gone on since.</p>}
      <Transcript
        items={items}
        label="Conversation"
        hasEarlier={log.hasEarlier}
        isLoadingEarlier={log.isLoadingEarlier}
        onEarlier={log.loadEarlier}
        docked={hidden}
        goTo={branch.goTo}
        isMarked={branch.isMarked}
        footer={footer}
      />
    </div>
  )
}

const Filler = ({ children }: { children: ReactNode }) => <div className={styles.filler}>{children}</div>

/** Something on the page moves already: no need to say that the agent is at work. */
function isWriting(items: readonly TranscriptItem[]): boolean {
  const last = items.at(-1)
  return (last?.type === 'answer' || last?.type === 'reasoning') && !last.isDone
}

/** When the stream was last heard, in milliseconds. Null while all is well. */
function useOldSince(): number | null {
  const { status } = useLiveState()
  const [since, setSince] = useState<number | null>(null)
  useEffect(() => {
    if (status === 'waiting') setSince((now) => now ?? Date.now())
    else if (status === 'live') setSince(null)
  }, [status])
  return since
}

/** The agent is at work and has nothing to show yet. */
function Working({ text }: { text: string }) {
  return (
    <p className={styles.working}>
      <span className={styles.dots} aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {text}
    </p>
  )
}
