import type { Session } from 'quarterdeck/client'
import { useEffect } from 'react'
import { useSearchParams } from 'wouter'
import { useSessionLog } from '../../data/session-log.ts'
import { announce } from '../../parts/Announcer.tsx'
import { ChatIcon } from '../../parts/icons.ts'
import { Empty, Failed, Loading } from '../../parts/States.tsx'
import { Transcript } from '../../parts/transcript/Transcript.tsx'
import { Story } from './story/Story.tsx'
import styles from './TranscriptTab.module.css'

/** The conversation, live. A link to a message (`?message=`) opens it there. */
export default function TranscriptTab({ session }: { session: Session }) {
  const log = useSessionLog(session.session_id)
  const [params] = useSearchParams()
  const message = params.get('message')
  const { items } = log.transcript
  const target = message === null ? undefined : items.find(({ key }) => key.split(':').slice(1).join(':') === message)
  const { status, hasEarlier, isLoadingEarlier, loadEarlier } = log
  const isSearching = message !== null && target === undefined && hasEarlier
  useEffect(() => {
    if (status === 'ready' && isSearching && !isLoadingEarlier) loadEarlier()
  }, [status, isSearching, isLoadingEarlier, loadEarlier])
  const isMissing = status === 'ready' && message !== null && target === undefined && !hasEarlier
  useEffect(() => {
    if (isMissing) announce('This message is not in the log any more.')
  }, [isMissing])
  if (status === 'loading' || isSearching) return <Loading rows={5} height={96} />
  if (status === 'failed') return <Failed error={log.error} onRetry={log.reload} />
  if (items.length === 0 && session.kind !== 'supervised') {
    return (
      <Empty title="Nothing was said yet" icon={<ChatIcon />}>
        The messages of this session come here.
      </Empty>
    )
  }
  if (session.kind === 'supervised') {
    return <Story {...{ session, items, hasEarlier }} onEarlier={loadEarlier} goTo={target?.key ?? null} />
  }
  return (
    <div className={styles.tab}>
      <Transcript
        items={items}
        label="Conversation"
        hasEarlier={hasEarlier}
        isLoadingEarlier={isLoadingEarlier}
        onEarlier={loadEarlier}
        goTo={target?.key ?? null}
      />
    </div>
  )
}
