import { useQueryClient } from '@tanstack/react-query'
import { ClientError } from 'quarterdeck/client'
import { useEffect, useMemo, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useTitle } from '../../app/title.ts'
import type { Outgoing, Words } from '../../data/outbox.ts'
import { useClient } from '../../data/server.tsx'
import { type SessionLogView, useSessionLog } from '../../data/session-log.ts'
import type { Transcript as Talk } from '../../data/transcript.ts'
import { useIsLive } from '../../data/use-live.tsx'
import { useOutbox, useOutgoing } from '../../data/use-outbox.ts'
import { announce } from '../../parts/Announcer.tsx'
import { ChatIcon, SessionsIcon } from '../../parts/icons.ts'
import { Empty, Failed, Loading } from '../../parts/States.tsx'
import { Transcript } from '../../parts/transcript/Transcript.tsx'
import { ChatAction, ChatLayout } from './ChatLayout.tsx'
import { Composer, type ComposerHandle } from './Composer.tsx'
import styles from './Conversation.module.css'
import { useMe, useRuns, useSession } from './chat-data.ts'
import { Dock } from './Dock.tsx'
import { writeDraft } from './draft.ts'
import { OutgoingList } from './OutgoingList.tsx'
import { Working } from './Working.tsx'

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
  const isOthers = owner !== undefined && me.data !== undefined && owner !== me.data.owner
  const isElsewhere = session.data?.kind === 'supervised'
  const isOpen = !isOthers && !isElsewhere
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
          <Dock questions={questions} />
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
      <Body
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

interface BodyProps {
  log: Log
  isKnown: boolean
  agent: string
  isRunning: boolean
  onAgain: (() => void) | undefined
  docked: readonly string[]
  outgoing: React.ReactNode
  hasOutgoing: boolean
}

function Body({ log, isKnown, agent, isRunning, onAgain, docked, outgoing, hasOutgoing }: BodyProps) {
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

const Filler = ({ children }: { children: React.ReactNode }) => <div className={styles.filler}>{children}</div>

/** Something on the page moves already: no need to say that the agent is at work. */
function isWriting(items: SessionLogView['transcript']['items']): boolean {
  const last = items.at(-1)
  return (last?.type === 'answer' || last?.type === 'reasoning') && !last.isDone
}

/** A message leaves the outbox when the conversation shows it, or when its run ended without having begun. */
function useSettled(id: string, { items }: Talk, runs: readonly { run_id: string; status: string }[]): void {
  const outbox = useOutbox()
  const outgoing = useOutgoing(id)
  useEffect(() => {
    if (outgoing.length === 0) return
    const shown = new Set(items.filter(({ type }) => type === 'user').map(({ key }) => key))
    const over = new Set(runs.filter(({ status }) => !OPEN_RUNS.has(status)).map(({ run_id }) => run_id))
    outbox.settle(id, ({ messageId, runId }) => shown.has(`user:${messageId}`) || over.has(runId ?? ''))
  }, [id, outbox, outgoing, items, runs])
}

const OPEN_RUNS: ReadonlySet<string> = new Set(['queued', 'running', 'waiting'])

/** Sends the last message once more. It is a new turn: what was said stays said. */
function useAgain({ items }: Talk, send: (words: Omit<Words, 'agent'>) => void): (() => void) | undefined {
  const last = items.findLast((item) => item.type === 'user')
  if (last === undefined || last.type !== 'user') return undefined
  return () => {
    const files = last.files.flatMap(({ fileId, name, mimeType }) =>
      fileId === null ? [] : [{ file_id: fileId, name, mime_type: mimeType ?? '', bytes: 0 }],
    )
    send({ text: last.text, files })
    announce('Asked again, as a new turn')
  }
}

/** For people who do not see the page. */
function Spoken({ isRunning, hasQuestion }: { isRunning: boolean; hasQuestion: boolean }) {
  const was = useRef(false)
  useEffect(() => {
    was.current ||= isRunning
  }, [isRunning])
  const text = isRunning
    ? 'The agent is at work.'
    : hasQuestion
      ? 'The agent waits for a decision.'
      : 'The agent is done.'
  return (
    <p className="unseen" role="status">
      {isRunning || hasQuestion || was.current ? text : ''}
    </p>
  )
}

function OthersNote({ owner }: { owner: string }) {
  return (
    <p className={styles.note}>
      This chat belongs to <bdi>{owner}</bdi>. You can read it and stop its runs, and only <bdi>{owner}</bdi> can write
      here.
    </p>
  )
}

function ElsewhereNote({ id }: { id: string }) {
  return (
    <p className={styles.note}>
      An agent works here from elsewhere. <Link href={`/sessions/${id}`}>Steer it on the page of its session</Link>
    </p>
  )
}
