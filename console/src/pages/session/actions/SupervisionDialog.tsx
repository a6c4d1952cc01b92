import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Supervision } from 'quarterdeck/client'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { useMe } from '../../../data/me.ts'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Dialog } from '../../../parts/Dialog.tsx'
import { Select, TextArea } from '../../../parts/Field.tsx'
import { Failed } from '../../../parts/States.tsx'

export type SupervisionDialogKind = 'steer' | 'task' | 'nudge' | 'mode' | 'handover' | 'terminate'

interface SupervisionDialogProps {
  kind: SupervisionDialogKind
  supervision: Supervision
  onClose: () => void
}

const modes = [
  { value: 'remote', name: 'In channels and here' },
  { value: 'local', name: 'At the agent’s own terminal, and here' },
  { value: 'hybrid', name: 'Everywhere' },
]

/** The commands for an agent that works elsewhere, each with what it needs. */
export function SupervisionDialog({ kind, supervision, onClose }: SupervisionDialogProps) {
  const client = useClient()
  const queries = useQueryClient()
  const { session_id: id, mode } = supervision
  const done = (text: string) => () => {
    announce(text)
    void queries.invalidateQueries({ queryKey: ['session', id] })
  }
  switch (kind) {
    case 'steer':
      return (
        <TextDialog
          title="Steer the agent"
          label="Message"
          help="The agent gets it with the result of its next call."
          verb="Send"
          send={(text) => client.sessions.steer(id, text)}
          onClose={onClose}
          onDone={done('The agent gets the message with its next call')}
        />
      )
    case 'task':
      return (
        <TextDialog
          title="Leave a task"
          label="Task"
          help="The next session in the same workspace begins with it."
          verb="Leave it"
          send={(text) => client.sessions.task(id, text)}
          onClose={onClose}
          onDone={done('The task waits for the next session')}
        />
      )
    case 'nudge':
      return (
        <TextDialog
          title="Nudge the agent"
          label="Message"
          help="May stay empty. For an agent that has gone silent."
          verb="Nudge"
          isOptional
          send={(text) => client.sessions.nudge(id, text === '' ? undefined : text)}
          onClose={onClose}
          onDone={done('Nudged the agent')}
        />
      )
    case 'terminate':
      return (
        <TextDialog
          title="End this session?"
          label="Reason"
          help="May stay empty. The agent’s calls are refused from now on, and its process stops if it was started from here."
          verb="End session"
          isOptional
          isDanger
          send={(text) => client.sessions.terminate(id, text === '' ? {} : { reason: text })}
          onClose={onClose}
          onDone={done('Ended the session')}
        />
      )
    case 'mode':
      return (
        <ChoiceDialog
          title="Where it asks"
          label="Questions are shown"
          help="The console shows them in any case."
          verb="Change"
          choices={modes}
          current={mode}
          send={(value) => client.sessions.mode(id, value as Supervision['mode'])}
          onClose={onClose}
          onDone={done('Changed where the agent asks')}
        />
      )
    case 'handover':
      return <HandOver supervision={supervision} onClose={onClose} onDone={done('Handed the session over')} />
    default:
      return kind satisfies never
  }
}

function HandOver({
  supervision: { session_id, owner_user_id },
  onClose,
  onDone,
}: Omit<SupervisionDialogProps, 'kind'> & { onDone: () => void }) {
  const client = useClient()
  const { data: me } = useMe()
  const others = (me?.operators ?? []).filter((name) => name !== owner_user_id)
  const whyNot =
    me === undefined
      ? null
      : !me.admin
        ? 'Only an admin can give a session to another operator.'
        : others.length === 0
          ? 'There is no other operator. The setting operators names them.'
          : null
  if (whyNot !== null) {
    return (
      <Dialog title="Hand over" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
        <p>{whyNot}</p>
      </Dialog>
    )
  }
  return (
    <ChoiceDialog
      title="Hand over"
      label="New owner"
      help="They answer what the agent asks from now on."
      verb="Hand over"
      choices={[owner_user_id, ...others].map((name) => ({ value: name, name }))}
      current={owner_user_id}
      send={(to) => client.sessions.handOver(session_id, to)}
      onClose={onClose}
      onDone={onDone}
    />
  )
}

interface ChoiceDialogProps {
  title: string
  label: string
  help: ReactNode
  verb: string
  choices: readonly { value: string; name: string }[]
  current: string
  send: (value: string) => Promise<unknown>
  onClose: () => void
  onDone: () => void
}

/** Asks for one of a few and sends it. */
function ChoiceDialog({ title, label, help, verb, choices, current, send, onClose, onDone }: ChoiceDialogProps) {
  const isLive = useIsLive()
  const formId = useId()
  const [value, setValue] = useState(current)
  const sending = useMutation({
    mutationFn: () => send(value),
    onSuccess: () => {
      onClose()
      onDone()
    },
  })
  const isReady = isLive && value !== current
  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    if (isReady && !sending.isPending) sending.mutate()
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={formId} isBusy={sending.isPending} disabled={!isReady}>
            {verb}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={onSubmit}>
        <Select label={label} help={help} value={value} onChange={(event) => setValue(event.target.value)}>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.name}
            </option>
          ))}
        </Select>
      </form>
      {sending.error !== null && <Failed error={sending.error} />}
    </Dialog>
  )
}

interface TextDialogProps {
  title: string
  label: string
  help: ReactNode
  /** The word on the button. */
  verb: string
  isOptional?: boolean
  isDanger?: boolean
  send: (text: string) => Promise<unknown>
  onClose: () => void
  onDone: () => void
}

const MOST = 4_000

/** Asks for a text and sends it. */
function TextDialog({
  title,
  label,
  help,
  verb,
  isOptional = false,
  isDanger = false,
  send,
  onClose,
  onDone,
}: TextDialogProps) {
  const isLive = useIsLive()
  const formId = useId()
  const [text, setText] = useState('')
  const sending = useMutation({
    mutationFn: () => send(text.trim()),
    onSuccess: () => {
      onClose()
      onDone()
    },
  })
  const isReady = isLive && (isOptional || text.trim() !== '')
  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    if (isReady && !sending.isPending) sending.mutate()
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={isDanger ? 'danger' : 'primary'}
            type="submit"
            form={formId}
            isBusy={sending.isPending}
            disabled={!isReady}
          >
            {verb}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={onSubmit}>
        <TextArea
          label={label}
          help={help}
          value={text}
          rows={4}
          maxLength={MOST}
          autoFocus
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) onSubmit(event)
          }}
        />
      </form>
      {sending.error !== null && <Failed error={sending.error} />}
    </Dialog>
  )
}
