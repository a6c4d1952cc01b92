import { ClientError } from 'quarterdeck/client'
import { type ReactNode, useMemo } from 'react'
import { Link } from 'wouter'
import type { useSessionLog } from '../../data/session-log.ts'
import type { TranscriptItem } from '../../data/transcript.ts'
import { ChatIcon } from '../../parts/icons.ts'
import { Empty, Failed, Loading } from '../../parts/States.tsx'
import { Transcript } from '../../parts/transcript/Transcript.tsx'
import styles from './Conversation.module.css'
import { Working } from './Working.tsx'

interface ConversationBodyProps {
  log: ReturnType<typeof useSessionLog>
  isKnown: boolean
  agent: string
  isRunning: boolean
  onAgain: (() => void) | undefined
  docked: readonly string[]
  outgoing: ReactNode
  hasOutgoing: boolean
}

/** The transcript, or why there is none. */
export function ConversationBody({
  log,
  isKnown,
  agent,
  isRunning,
  onAgain,
  docked,
  outgoing,
  hasOutgoing,
}: ConversationBodyProps) {
  const hidden = useMemo(() => new Set(docked), [docked])
  const { items } = log.transcript
  if (isKnown && log.status === 'loading' && !hasOutgoing) return <Filler>{<Loading rows={3} height={96} />}</Filler>
  if (log.status === 'failed' && items.length === 0) {
    const isGone = log.error instanceof ClientError && log.error.status === 404
    return (
      <Filler>
        {isGone ? (
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
    hasOutgoing || isRunning ? (
      <div className={styles.footer}>
        {isRunning && !isWriting(items) && <Working text={`${agent} is at work`} />}
        {hasOutgoing && outgoing}
      </div>
    ) : null
  return (
    <Transcript
      items={items}
      label="Conversation"
      hasEarlier={log.hasEarlier}
      isLoadingEarlier={log.isLoadingEarlier}
      onEarlier={log.loadEarlier}
      docked={hidden}
      onAgain={onAgain}
      footer={footer}
    />
  )
}

const Filler = ({ children }: { children: ReactNode }) => <div className={styles.filler}>{children}</div>

/** Something on the page moves already: no need to say that the agent is at work. */
function isWriting(items: readonly TranscriptItem[]): boolean {
  const last = items.at(-1)
  return (last?.type === 'answer' || last?.type === 'reasoning') && !last.isDone
}
