import type { Client } from 'quarterdeck/client'
import { type ReactNode, useState } from 'react'
import { useKeys } from '../../app/Keys.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { Button } from '../Button.tsx'
import { CardFrame } from './CardFrame.tsx'
import { DecisionBar, OutcomeBar } from './DecisionBar.tsx'
import { NobodyWaits } from './NobodyWaits.tsx'
import { Outcome } from './Outcome.tsx'
import { Problem } from './Problem.tsx'
import { TextDialog } from './TextDialog.tsx'

/** Something that a person can do about a record. */
export interface RecordAction {
  /** The word on the button. */
  name: string
  /** The key that does the same. */
  key: string
  isPrimary?: boolean
  /** Asks first: for a text, or only for a yes. */
  asks?: {
    title: string
    label: string
    help: string | null
    isOptional?: boolean
    hasText?: boolean
    isDangerous?: boolean
  }
  send: (client: Client, text: string) => Promise<unknown>
  /** What is said when it is done. */
  done: string
}

interface RecordCardProps {
  kind: string
  icon: ReactNode
  title: string
  record: {
    session_id: string
    owner: string
    host: string
    created_at: string
    status: string
    decided_at: string | null
    decided_by: string | null
    decided_channel: string | null
    nobody_waits_since: string | null
  }
  /** When it was read, in milliseconds. */
  readAt: number
  /** Somebody can still answer. */
  isOpen: boolean
  expiresAt: string | null
  /** What came with the answer. */
  words: { label: string; text: string } | null
  actions: readonly RecordAction[]
  busy: string | null
  problem: unknown
  answer: (what: string, send: (client: Client) => Promise<unknown>, done: string) => Promise<boolean>
  docked: boolean
  hasKeys: boolean
  children: ReactNode
}

/** The card of what an agent elsewhere wants: its words, and the buttons. */
export function RecordCard(props: RecordCardProps) {
  const { record, actions, busy, problem, answer, isOpen } = props
  const isLive = useIsLive()
  const [asking, setAsking] = useState<RecordAction | null>(null)
  async function send(action: RecordAction, text: string): Promise<void> {
    if (await answer(action.name, (client) => action.send(client, text), action.done)) setAsking(null)
  }
  function press(action: RecordAction): void {
    if (!isLive || busy !== null) return
    if (action.asks === undefined) void send(action, '')
    else setAsking(action)
  }
  useKeys(
    props.hasKeys && isOpen
      ? actions
          // A single key never decides: what needs no text is pressed, or confirmed with the focus on it.
          .filter(({ asks }) => asks !== undefined)
          .map((action) => ({ keys: action.key, name: action.name, group: 'Decision', run: () => press(action) }))
      : [],
  )
  return (
    <>
      <CardFrame
        kind={props.kind}
        icon={props.icon}
        title={props.title}
        agent={record.host}
        host={null}
        owner={record.owner}
        sessionId={record.session_id}
        createdAt={record.created_at}
        expiresAt={isOpen ? props.expiresAt : null}
        docked={props.docked}
        asOf={isLive ? null : props.readAt}
        isDone={!isOpen}
        bar={
          isOpen ? (
            <DecisionBar note={isLive ? null : 'Not connected. You can answer when the server answers again.'}>
              {actions.map((action) => (
                <Button
                  key={action.name}
                  kind={action.isPrimary ? 'primary' : 'plain'}
                  {...(action.asks === undefined ? {} : { hint: action.key })}
                  isBusy={busy === action.name}
                  disabled={!isLive || busy !== null}
                  onClick={() => press(action)}
                >
                  {action.name}
                </Button>
              ))}
            </DecisionBar>
          ) : (
            <OutcomeBar>
              <Outcome
                status={record.status}
                by={record.decided_by}
                at={record.decided_at}
                channel={record.decided_channel}
                words={props.words}
              />
            </OutcomeBar>
          )
        }
      >
        {isOpen && asking === null && <Problem error={problem} />}
        <NobodyWaits since={record.nobody_waits_since} />
        {props.children}
      </CardFrame>
      {asking?.asks !== undefined && isOpen && (
        <TextDialog
          {...asking.asks}
          action={asking.name}
          isBusy={busy !== null}
          isLive={isLive}
          problem={problem}
          onSend={(text) => void send(asking, text)}
          onClose={() => setAsking(null)}
        />
      )}
    </>
  )
}
