import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Client, Supervision } from 'quarterdeck/client'
import { type ComponentProps, useState } from 'react'
import { useMe } from '../../../data/me.ts'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { given } from '../../../given.ts'
import { announce } from '../../../parts/Announcer.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Dialog, FormDialog } from '../../../parts/Dialog.tsx'
import { Options, Select, TextArea } from '../../../parts/Field.tsx'
import { Failed } from '../../../parts/States.tsx'

export type SupervisionDialogKind = 'steer' | 'task' | 'nudge' | 'mode' | 'handover' | 'terminate'

interface SupervisionDialogProps {
  kind: SupervisionDialogKind
  supervision: Supervision
  onClose: () => void
}

interface Command {
  title: string
  label: string
  help: string
  /** The word on the button. */
  verb: string
  /** What is said when it is done. */
  done: string
  /** The text may stay empty. */
  isOptional?: boolean
  isDanger?: boolean
  /** `value` is the text, or what was chosen. */
  send: (sessions: Client['sessions'], id: string, value: string) => Promise<unknown>
}

const commands: Readonly<Record<SupervisionDialogKind, Command>> = {
  steer: {
    title: 'Steer the agent',
    label: 'Message',
    help: 'The agent gets it with the result of its next call.',
    verb: 'Send',
    done: 'The agent gets the message with its next call',
    send: (sessions, id, text) => sessions.steer(id, text),
  },
  task: {
    title: 'Leave a task',
    label: 'Task',
    help: 'The next session in the same workspace begins with it.',
    verb: 'Leave it',
    done: 'The task waits for the next session',
    send: (sessions, id, text) => sessions.task(id, text),
  },
  nudge: {
    title: 'Nudge the agent',
    label: 'Message',
    help: 'May stay empty. For an agent that has gone silent.',
    verb: 'Nudge',
    done: 'Nudged the agent',
    isOptional: true,
    send: (sessions, id, text) => sessions.nudge(id, text === '' ? undefined : text),
  },
  terminate: {
    title: 'End this session?',
    label: 'Reason',
    help: 'May stay empty. The agent’s calls are refused from now on, and its process stops if it was started from here.',
    verb: 'End session',
    done: 'Ended the session',
    isOptional: true,
    isDanger: true,
    send: (sessions, id, reason) => sessions.terminate(id, given({ reason })),
  },
  mode: {
    title: 'Where it asks',
    label: 'Questions are shown',
    help: 'The console shows them in any case.',
    verb: 'Change',
    done: 'Changed where the agent asks',
    send: (sessions, id, mode) => sessions.mode(id, mode as Supervision['mode']),
  },
  handover: {
    title: 'Hand over',
    label: 'New owner',
    help: 'They answer what the agent asks from now on.',
    verb: 'Hand over',
    done: 'Handed the session over',
    send: (sessions, id, owner) => sessions.handOver(id, owner),
  },
}

const modes = [
  ['remote', 'In channels and here'],
  ['local', 'At the agent’s own terminal, and here'],
  ['hybrid', 'Everywhere'],
] as const

/** The commands for an agent that works elsewhere, each with what it needs. */
export default function SupervisionDialog({ kind, supervision, onClose }: SupervisionDialogProps) {
  const { mode, owner_user_id: owner } = supervision
  const { data: me } = useMe()
  const shared = { command: commands[kind], sessionId: supervision.session_id, onClose }
  if (kind === 'mode') return <CommandDialog {...shared} choices={modes} current={mode} />
  if (kind !== 'handover') return <CommandDialog {...shared} choices={null} current="" />
  const others = (me?.operators ?? []).filter((name) => name !== owner)
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
  return <CommandDialog {...shared} choices={[owner, ...others].map((name) => [name, name])} current={owner} />
}

const MOST = 4_000

interface CommandDialogProps {
  command: Command
  sessionId: string
  /** Null: it takes a text. */
  choices: ComponentProps<typeof Options>['of'] | null
  current: string
  onClose: () => void
}

/** Asks for a text, or for one of a few, and sends it. */
function CommandDialog({ command, sessionId, choices, current, onClose }: CommandDialogProps) {
  const { title, label, help, verb, done, isOptional = false, isDanger = false, send } = command
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const [value, setValue] = useState(current)
  const sending = useMutation({
    mutationFn: () => send(client.sessions, sessionId, value.trim()),
    onSuccess: () => {
      onClose()
      announce(done)
      void queries.invalidateQueries({ queryKey: ['session', sessionId] })
    },
  })
  const isFilled = choices === null ? isOptional || value.trim() !== '' : value !== current
  return (
    <FormDialog
      title={title}
      verb={verb}
      isDanger={isDanger}
      isReady={isLive && isFilled}
      isBusy={sending.isPending}
      onSend={() => sending.mutate()}
      onClose={onClose}
      problem={sending.error !== null && <Failed error={sending.error} />}
    >
      {choices === null ? (
        <TextArea
          label={label}
          help={help}
          value={value}
          rows={4}
          maxLength={MOST}
          autoFocus
          onChange={(event) => setValue(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit()
          }}
        />
      ) : (
        <Select label={label} help={help} value={value} onChange={(event) => setValue(event.target.value)}>
          <Options of={choices} />
        </Select>
      )}
    </FormDialog>
  )
}
