import type { Session, Supervision } from 'quarterdeck/client'
import { lazy, Suspense, useState } from 'react'
import { useLocation } from 'wouter'
import { useKeys } from '../../../app/Keys.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { Button } from '../../../parts/Button.tsx'
import {
  AlertIcon,
  ChatIcon,
  DeleteIcon,
  DeviceIcon,
  EditIcon,
  HandOverIcon,
  MoreIcon,
  PauseIcon,
  PlayIcon,
  SteerIcon,
  StopIcon,
  TaskIcon,
} from '../../../parts/icons.ts'
import { Menu, type MenuEntry } from '../../../parts/Menu.tsx'
import { useRuns, useSessionCommand } from '../use-session.ts'
import type { SupervisionDialogKind } from './SupervisionDialog.tsx'
import { useExportEntries } from './use-export-entries.tsx'

const DeleteSessionDialog = lazy(() => import('./DeleteSessionDialog.tsx'))
const RenameDialog = lazy(() => import('../../../parts/RenameDialog.tsx'))
const SupervisionDialog = lazy(() => import('./SupervisionDialog.tsx'))

/** What can be done with a session. The most likely thing is a button, everything else is in a menu. */
export function SessionActions({ session }: { session: Session }) {
  const [, go] = useLocation()
  const isLive = useIsLive()
  const [dialog, setDialog] = useState<SupervisionDialogKind | 'delete' | 'rename' | null>(null)
  const { session_id, supervision } = session
  const close = () => setDialog(null)
  // The views come later in the page: what they do with the key goes first.
  useKeys([{ keys: 'Escape', name: 'All sessions', group: 'Session', run: () => go('/sessions') }])
  const whyNot = isLive ? null : 'Not connected'
  const exports = useExportEntries([session_id], whyNot)
  // The alerts about the silence of this agent, off or on again.
  const stalls = useSessionCommand(
    session_id,
    ({ sessions }, enabled: boolean) => sessions.stalls(session_id, enabled),
    ({ stalls_enabled: on }) =>
      on ? 'Its silence counts again, from now' : 'Its silence raises no alert and no nudge',
  )
  const commands = supervision === undefined ? [] : supervisedEntries(supervision, whyNot, setDialog, stalls.mutate)
  return (
    <>
      {supervision === undefined ? (
        <StopRun session={session} />
      ) : (
        <PauseOrResume session={session} supervision={supervision} />
      )}
      {supervision === undefined && (
        <Button icon={<ChatIcon />} onClick={() => go(`/chat/${session_id}`)}>
          Open in chat
        </Button>
      )}
      <Menu
        label="More actions"
        icon={<MoreIcon />}
        entries={[
          ...commands,
          { name: 'Rename…', icon: <EditIcon />, run: () => setDialog('rename'), whyNot },
          ...exports,
          { name: 'Delete…', icon: <DeleteIcon />, isDanger: true, run: () => setDialog('delete'), whyNot },
        ]}
      />
      <Suspense>
        {dialog === 'delete' && (
          <DeleteSessionDialog sessions={[session]} onClose={close} onDeleted={() => go('/sessions')} />
        )}
        {dialog === 'rename' && <RenameDialog session={session} onClose={close} />}
        {dialog !== null && dialog !== 'delete' && dialog !== 'rename' && supervision !== undefined && (
          <SupervisionDialog kind={dialog} supervision={supervision} onClose={close} />
        )}
      </Suspense>
    </>
  )
}

/** Stops the run that works or waits in its queue. */
function StopRun({ session }: { session: Session }) {
  const isLive = useIsLive()
  const { data } = useRuns(session.session_id)
  const isOpen = (status: string) => status === 'running' || status === 'queued' || status === 'waiting'
  const active = data?.runs.find(({ status }) => isOpen(status))
  const stop = useSessionCommand(
    session.session_id,
    (client, runId: string) => client.cancel(runId),
    // It answers before the run has stopped.
    ({ status }) => (status === 'cancelled' || isOpen(status) ? 'Stopping the run' : 'The run has already ended'),
    'The run could not be stopped. ',
  )
  const run = () => active !== undefined && isLive && !stop.isPending && stop.mutate(active.run_id)
  useKeys(active === undefined ? [] : [{ keys: '.', name: 'Stop the run', group: 'Session', run }])
  if (active === undefined) return null
  return (
    <Button icon={<StopIcon />} hint="." isBusy={stop.isPending} disabled={!isLive} onClick={run}>
      Stop run
    </Button>
  )
}

function PauseOrResume({ session, supervision }: { session: Session; supervision: Supervision }) {
  const isLive = useIsLive()
  const { session_id } = session
  const isPaused = supervision.status === 'paused'
  const change = useSessionCommand(
    session_id,
    ({ sessions }, _: undefined) => (isPaused ? sessions.resume(session_id) : sessions.pause(session_id)),
    () => (isPaused ? 'The agent goes on' : 'Paused. The agent’s calls are refused until it is resumed'),
  )
  const isOpen = supervision.status === 'active' || isPaused
  const run = () => isLive && !change.isPending && change.mutate(undefined)
  useKeys(isOpen && !isPaused ? [{ keys: '.', name: 'Pause the agent', group: 'Session', run }] : [])
  if (!isOpen) return null
  return (
    <Button
      icon={isPaused ? <PlayIcon /> : <PauseIcon />}
      isBusy={change.isPending}
      disabled={!isLive}
      onClick={run}
      {...(isPaused ? {} : { hint: '.' })}
    >
      {isPaused ? 'Resume' : 'Pause'}
    </Button>
  )
}

function supervisedEntries(
  { status, stalls_enabled: hasStalls }: Supervision,
  offline: string | null,
  open: (kind: SupervisionDialogKind) => void,
  switchStalls: (enabled: boolean) => void,
): (MenuEntry | null)[] {
  const isEnded = status === 'terminated'
  const ended = offline ?? (isEnded || status === 'interrupted' ? 'The agent does not work any more' : null)
  return [
    { name: 'Steer…', icon: <SteerIcon />, run: () => open('steer'), whyNot: ended },
    { name: 'Nudge…', icon: <AlertIcon />, run: () => open('nudge'), whyNot: ended },
    {
      name: hasStalls ? 'Switch alerts off' : 'Switch alerts on',
      icon: <AlertIcon />,
      run: () => switchStalls(!hasStalls),
      whyNot: offline ?? (isEnded ? 'It has ended' : null),
    },
    { name: 'Leave a task…', icon: <TaskIcon />, run: () => open('task'), whyNot: offline },
    null,
    { name: 'Where it asks…', icon: <DeviceIcon />, run: () => open('mode'), whyNot: ended },
    { name: 'Hand over…', icon: <HandOverIcon />, run: () => open('handover'), whyNot: offline },
    {
      name: 'End the session…',
      icon: <StopIcon />,
      isDanger: true,
      run: () => open('terminate'),
      whyNot: offline ?? (isEnded ? 'It has ended' : null),
    },
    null,
  ]
}
