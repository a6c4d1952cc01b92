import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { useLocation } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useTitle } from '../../app/title.ts'
import { isOwn, useMe } from '../../data/me.ts'
import type { Outgoing, Words } from '../../data/outbox.ts'
import { useClient } from '../../data/server.tsx'
import { useSessionLog } from '../../data/session-log.ts'
import { useIsLive } from '../../data/use-live.tsx'
import { useOutbox, useOutgoing } from '../../data/use-outbox.ts'
import { announce } from '../../parts/Announcer.tsx'
import { SessionsIcon } from '../../parts/icons.ts'
import { ChatAction, ChatLayout } from './ChatLayout.tsx'
import { Composer, type ComposerHandle } from './Composer.tsx'
import { ConversationBody, isUnknownSession } from './ConversationBody.tsx'
import { useRuns, useSession } from './chat-data.ts'
import { Dock } from './Dock.tsx'
import { writeDraft } from './draft.ts'
import { OutgoingList } from './OutgoingList.tsx'
import { ElsewhereNote, OthersNote } from './ReadOnlyNotes.tsx'
import { Spoken } from './Spoken.tsx'
import { useAgain } from './use-again.ts'
import { useSettled } from './use-settled.ts'

/** A chat. Until its first message has reached the server, there is only that message. */
export function Conversation({ id }: { id: string }) {
  const outbox = useOutbox()
  // Read again whenever a message of this session changes.
  useOutgoing(id)
  const isLive = useIsLive()
  useEffect(() => {
    if (isLive) outbox.retryCutOff()
  }, [isLive, outbox])
  const isKnown = !outbox.isNew(id)
  return <Talking id={id} isKnown={isKnown} log={useSessionLog(id, isKnown)} />
}

type Log = ReturnType<typeof useSessionLog>

function Talking({ id, isKnown, log }: { id: string; isKnown: boolean; log: Log }) {
  const [, go] = useLocation()
  const client = useClient()
  const queries = useQueryClient()
  const outbox = useOutbox()
  const outgoing = useOutgoing(id)
  const composer = useRef<ComposerHandle>(null)
  const session = useSession(id, isKnown)
  const runs = useRuns(id, isKnown)
  const me = useMe()
  const talk = log.transcript
  const title = session.data?.title || outgoing[0]?.text.slice(0, 80) || 'Chat'
  useTitle(title)

  const all = runs.data?.runs ?? []
  const running = talk.activeRun ?? all.find(({ status }) => status === 'running')?.run_id ?? null
  useSettled(id, talk, all)

  async function stop(runId: string): Promise<void> {
    try {
      await client.cancel(runId)
      await queries.invalidateQueries({ queryKey: ['sessions', id] })
    } catch (error) {
      announce(error instanceof Error ? error.message : String(error))
    }
  }
  useKeys([
    {
      keys: '.',
      name: 'Stop run',
      group: 'Chat',
      run: () => (running === null ? announce('No run is at work') : void stop(running)),
    },
  ])

  const focusField = useCallback(() => composer.current?.focusIfFree(), [])
  const send = (words: Omit<Words, 'agent'>) => outbox.send(id, { ...words, agent: null })
  async function withdraw(message: Outgoing): Promise<void> {
    if (message.runId !== null) await stop(message.runId)
  }
  function edit(message: Outgoing): void {
    outbox.discard(message.key)
    if (message.begins) {
      // The server does not know this session, so the chat begins anew.
      writeDraft(null, message)
      go('/chat')
    } else composer.current?.restore(message)
  }

  const questions = useMemo(() => talk.questions.map((one) => one.id), [talk.questions])
  const owner = session.data?.owner
  // As long as it is not known, one may begin to write.
  const isOthers = owner !== undefined && me.data !== undefined && !isOwn(me.data, owner)
  const isElsewhere = session.data?.kind === 'supervised'
  const isOpen = !isOthers && !isElsewhere && !isUnknownSession(log.error)
  const again = useAgain(talk, send)
  return (
    <ChatLayout
      title={title}
      current={session.data?.session_id ?? id}
      onFiles={isOpen ? (files) => composer.current?.attach(files) : null}
      actions={
        <ChatAction href={`/sessions/${id}`} icon={<SessionsIcon />}>
          Details
        </ChatAction>
      }
      bottom={
        <>
          <Dock questions={questions} onEmpty={focusField} />
          {isOpen && (
            <Composer
              ref={composer}
              sessionId={id}
              placeholder={
                running === null ? `Message ${session.data?.agent ?? ''}`.trim() : 'The next message waits for its turn'
              }
              isQuiet={questions.length > 0}
              onSend={send}
              onStop={running === null ? undefined : () => void stop(running)}
            />
          )}
          {isElsewhere && <ElsewhereNote id={id} />}
          {isOthers && !isElsewhere && <OthersNote owner={owner} />}
        </>
      }
    >
      <ConversationBody
        log={log}
        isKnown={isKnown}
        agent={session.data?.agent ?? 'The agent'}
        isRunning={running !== null}
        onAgain={isOpen && running === null && questions.length === 0 ? again : undefined}
        docked={questions}
        outgoing={
          <OutgoingList
            list={outgoing}
            waitsFor={questions.length > 0 ? 'Waits until the question is answered.' : 'Waits for its turn.'}
            onWithdraw={(message) => void withdraw(message)}
            onEdit={edit}
          />
        }
        hasOutgoing={outgoing.length > 0}
      />
      <Spoken isRunning={running !== null} hasQuestion={questions.length > 0} />
    </ChatLayout>
  )
}
