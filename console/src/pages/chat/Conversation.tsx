import { useQueryClient } from '@tanstack/react-query'
import type { HostChoice } from 'quarterdeck/client'
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { useKeys } from '../../app/Keys.tsx'
import { useTitle } from '../../app/title.ts'
import { isOwn, useMe } from '../../data/me.ts'
import type { Outgoing, Words } from '../../data/outbox.ts'
import { usePlace } from '../../data/place.ts'
import { useClient } from '../../data/server.tsx'
import { isUnknownSession } from '../../data/session-id.ts'
import { useSessionLog } from '../../data/session-log.ts'
import type { Transcript, UserItem } from '../../data/transcript.ts'
import { messageIdOf, useBranch } from '../../data/use-branch.ts'
import { useIsLive } from '../../data/use-live.tsx'
import { useOutbox, useOutgoing } from '../../data/use-outbox.ts'
import { errorText } from '../../error-text.ts'
import { given } from '../../given.ts'
import { announce } from '../../parts/Announcer.tsx'
import { Button } from '../../parts/Button.tsx'
import { AboutIcon } from '../../parts/icons.ts'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { RenameButton } from '../../parts/RenameButton.tsx'
import { Loading } from '../../parts/States.tsx'
import { AgentContext, ConversationContext, SuggestContext } from '../../parts/transcript/conversation.ts'
import { EarlierVersion } from '../../parts/transcript/EarlierVersion.tsx'
import { useAgain } from '../../parts/transcript/use-again.ts'
import { ChatAction } from './ChatAction.tsx'
import { ChatLayout } from './ChatLayout.tsx'
import { Composer, type ComposerHandle } from './Composer.tsx'
import styles from './Conversation.module.css'
import { ConversationBody } from './ConversationBody.tsx'
import { useRuns, useSession } from './chat-data.ts'
import { type Draft, writeDraft } from './draft.ts'
import { OutgoingList } from './OutgoingList.tsx'
import { TriedNote } from './TriedNote.tsx'

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
  const { page, ways } = usePlace()
  const talk = log.transcript
  const branch = useBranch(log)
  const [edited, setEdited] = useState<UserItem | null>(null)
  const [isOwnModel, setOwnModel] = useState(false)
  // A chat that began with another model goes on with it until somebody says otherwise.
  const model = isOwnModel ? null : (outgoing.at(-1)?.model ?? talk.tried)
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
      announce(errorText(error))
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
  function send(words: Omit<Words, 'agent'>): void {
    const hasChosen = Object.keys(chosen).length > 0
    setChosen({})
    outbox.send(id, {
      ...words,
      agent: null,
      ...given({ model, host: hasChosen ? chosen : null }),
      ...(edited === null ? {} : { replaces: messageIdOf(edited.key) }),
    })
    setEdited(null)
    branch.turnTo(null)
  }
  async function withdraw(message: Outgoing): Promise<void> {
    if (message.runId !== null) await stop(message.runId)
  }
  function edit(message: Outgoing): void {
    outbox.discard(message.key)
    if (message.begins) {
      // The server does not know this session, so the chat begins anew.
      writeDraft(null, message)
      go('/chat')
      return
    }
    const replaced = talk.items.find(({ key }) => key === `user:${message.replaces}`)
    if (replaced?.type === 'user') {
      writeDraft(`${id}.${replaced.key}`, message)
      setEdited(replaced)
    } else composer.current?.restore(message)
  }

  const suggest = (text: string) => composer.current?.restore({ text, files: [] })
  const questions = useMemo(() => talk.questions.map((one) => one.id), [talk.questions])
  const owner = session.data?.owner
  // As long as it is not known, one may begin to write.
  const isOthers = owner !== undefined && me.data !== undefined && !isOwn(me.data, owner)
  const isElsewhere = session.data?.kind === 'supervised' && !session.data.hosted
  const host = session.data?.host
  const [chosen, setChosen] = useState<HostChoice>({})
  const isOpen = !isOthers && !isElsewhere && !isUnknownSession(log.error)
  const isIdle = isOpen && branch.isCurrent && running === null && questions.length === 0
  const again = useAgain(id, branch.items, model)
  const conversation = {
    again: isIdle ? again : null,
    edit: isIdle ? setEdited : null,
    versions: branch.versions,
    turnTo: branch.turnTo,
    sessionId: isKnown ? id : null,
  }
  return (
    <ChatLayout
      title={title}
      current={session.data?.session_id ?? id}
      onFiles={isOpen ? (files) => composer.current?.attach(files) : null}
      actions={
        <>
          {session.data !== undefined && (
            // On a phone there is room for three buttons, and the details rename too.
            <span className={page === 'talk' ? undefined : styles.roomy}>
              <RenameButton session={session.data} />
            </span>
          )}
          {page === 'talk' ? (
            ways
          ) : (
            <ChatAction href={`/sessions/${id}`} icon={<AboutIcon />}>
              Details
            </ChatAction>
          )}
        </>
      }
      bottom={
        <>
          <Dock questions={questions} onEmpty={focusField} />
          {edited !== null && (
            <p className={styles.note}>
              You edit an earlier message. It stays, with all that follows it, as an earlier version.{' '}
              <Button kind="quiet" onClick={() => setEdited(null)}>
                Do not edit
              </Button>
            </p>
          )}
          {model !== null && <TriedNote model={model} onOwn={() => setOwnModel(true)} />}
          {!branch.isCurrent && <EarlierVersion onLeave={() => branch.turnTo(null)} />}
          {isOpen && host !== undefined && (
            <Suspense fallback={<Loading rows={1} height={34} />}>
              <HostBar host={host} chosen={chosen} onChoose={setChosen} />
            </Suspense>
          )}
          {isOpen && (
            <Composer
              commands={host?.commands}
              key={edited?.key ?? ''}
              ref={composer}
              sessionId={edited === null ? id : `${id}.${edited.key}`}
              initial={edited === null ? null : draftOf(edited)}
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
      <AgentContext value={session.data?.agent ?? null}>
        <ConversationContext value={conversation}>
          <SuggestContext value={isOpen ? suggest : null}>
            <ConversationBody
              log={log}
              branch={branch}
              isKnown={isKnown}
              agent={session.data?.agent ?? 'The agent'}
              isRunning={running !== null}
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
          </SuggestContext>
        </ConversationContext>
      </AgentContext>
      <Spoken isRunning={running !== null} hasQuestion={questions.length > 0} />
    </ChatLayout>
  )
}

const HostBar = lazyPart(() => import('./HostBar.tsx'))
const ApprovalCard = lazy(() => import('../../parts/approval/ApprovalCard.tsx'))

/**
 * What the run has stopped for, open above the field for the next message. A question that was answered elsewhere says so, and stays
 * while the pointer or the focus is on it.
 */
function Dock({ questions, onEmpty }: { questions: readonly string[]; onEmpty: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  const [kept, setKept] = useState<readonly string[]>([])
  const shown = [...kept, ...questions.filter((id) => !kept.includes(id))]
  if (shown.some((id) => !kept.includes(id))) setKept(shown)

  /** Lets go of what no longer waits. */
  function tidy(): void {
    if (box.current?.matches(':hover, :focus-within')) return
    setKept((now) => (now.every((id) => questions.includes(id)) ? now : now.filter((id) => questions.includes(id))))
  }
  useEffect(tidy)
  const isEmpty = shown.length === 0
  const wasEmpty = useRef(true)
  useEffect(() => {
    if (isEmpty && !wasEmpty.current) onEmpty()
    wasEmpty.current = isEmpty
  }, [isEmpty, onEmpty])
  if (isEmpty) return null
  return (
    <section ref={box} className={styles.dock} aria-label="Waits for an answer" onPointerLeave={tidy} onBlur={tidy}>
      {shown.map((id, i) => (
        <Suspense key={id} fallback={<Loading rows={1} height={180} />}>
          <ApprovalCard id={id} docked hasKeys={i === 0} />
        </Suspense>
      ))}
    </section>
  )
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

const draftOf = ({ text, files }: UserItem): Draft => ({
  text,
  files: files.flatMap(({ fileId, name, mimeType }) =>
    fileId === null ? [] : [{ file_id: fileId, name, mime_type: mimeType ?? '', bytes: 0 }],
  ),
})

/** A message leaves the outbox when the conversation shows it, or when its run ended without having begun. */
function useSettled(id: string, { items }: Transcript, runs: readonly { run_id: string; status: string }[]): void {
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

/** In the place of the field, where one can read and not write. */
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
