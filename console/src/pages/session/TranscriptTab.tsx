import type { Session } from 'quarterdeck/client'
import { lazy } from 'react'
import { isOwn, useMe } from '../../data/me.ts'
import { useSessionLog } from '../../data/session-log.ts'
import { useBranch } from '../../data/use-branch.ts'
import { ChatIcon } from '../../parts/icons.ts'
import { Empty, Failed, Loading } from '../../parts/States.tsx'
import { ConversationContext } from '../../parts/transcript/conversation.ts'
import { EarlierVersion } from '../../parts/transcript/EarlierVersion.tsx'
import { Transcript } from '../../parts/transcript/Transcript.tsx'
import { useAgain } from '../../parts/transcript/use-again.ts'
import styles from './TranscriptTab.module.css'

// Only sessions of coding agents have one.
const Story = lazy(() => import('./story/Story.tsx'))

/** The conversation, live. A link to a message (`?message=`) opens it there. */
export default function TranscriptTab({ session }: { session: Session }) {
  const log = useSessionLog(session.session_id)
  const branch = useBranch(log)
  const { items, goTo, isMarked, isSearching, isCurrent, versions, turnTo } = branch
  const { status, hasEarlier, isLoadingEarlier, loadEarlier, transcript } = log
  const me = useMe()
  const isStory = session.kind === 'supervised' && !session.hosted
  const canWrite = !isStory && me.data !== undefined && isOwn(me.data, session.owner)
  const isIdle = isCurrent && transcript.activeRun === null && transcript.questions.length === 0
  const again = useAgain(session.session_id, items)
  if (status === 'loading' || isSearching) return <Loading rows={5} height={96} />
  if (status === 'failed') return <Failed error={log.error} onRetry={log.reload} />
  if (isStory) {
    return <Story {...{ session, items, hasEarlier, goTo }} onEarlier={loadEarlier} />
  }
  if (items.length === 0) {
    return (
      <Empty title="Nothing was said yet" icon={<ChatIcon />}>
        The messages of this session come here.
      </Empty>
    )
  }
  return (
    <div className={styles.tab}>
      {!isCurrent && <EarlierVersion onLeave={() => turnTo(null)} />}
      <ConversationContext
        value={{
          again: canWrite && isIdle ? again : null,
          edit: null,
          versions,
          turnTo,
          sessionId: session.session_id,
        }}
      >
        <Transcript
          items={items}
          label="Conversation"
          hasEarlier={hasEarlier}
          isLoadingEarlier={isLoadingEarlier}
          onEarlier={loadEarlier}
          goTo={goTo}
          isMarked={isMarked}
        />
      </ConversationContext>
    </div>
  )
}
