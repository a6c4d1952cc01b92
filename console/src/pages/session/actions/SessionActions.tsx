import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Session, Supervision } from 'quarterdeck/client'
import { lazy, Suspense, useState } from 'react'
import { useLocation } from 'wouter'
import { useKeys } from '../../../app/Keys.tsx'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { Button } from '../../../parts/Button.tsx'
import {
  AlertIcon,
  ChatIcon,
  DeleteIcon,
  DeviceIcon,
  ExportIcon,
  HandOverIcon,
  MoreIcon,
  PauseIcon,
  PlayIcon,
  SteerIcon,
  StopIcon,
  TaskIcon,
} from '../../../parts/icons.ts'
import { Menu, type MenuEntry } from '../../../parts/Menu.tsx'
import { useRuns } from '../use-session.ts'
import type { SupervisionDialogKind } from './SupervisionDialog.tsx'
import { useExportSession } from './use-export-session.ts'

const DeleteSessionDialog = lazy(() => import('./DeleteSessionDialog.tsx'))
const SupervisionDialog = lazy(() => import('./SupervisionDialog.tsx'))

/** What can be done with a session. The most likely thing is a button, everything else is in a menu. */
export function SessionActions({ session }: { session: Session }) {
  const [, go] = useLocation()
  const isLive = useIsLive()
  const exportSession = useExportSession()
  const [dialog, setDialog] = useState<SupervisionDialogKind | 'delete' | null>(null)
  const { session_id, supervision } = session
  const close = () => setDialog(null)
  // The views come later in the page: what they do with the key goes first.
  useKeys([{ keys: 'Escape', name: 'All sessions', group: 'Session', run: () => go('/sessions') }])
  const whyNot = isLive ? null : 'Not connected'
  const switchStalls = useStallsSwitch(session_id)
  const commands = supervision === undefined ? [] : supervisedEntries(supervision, whyNot, setDialog, switchStalls)
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
          { name: 'Export as JSON', icon: <ExportIcon />, run: () => exportSession(session_id), whyNot },
          { name: 'Delete…', icon: <DeleteIcon />, isDanger: true, run: () => setDialog('delete'), whyNot },
        ]}
      />
      <Suspense>
        {dialog === 'delete' && (
          <DeleteSessionDialog session={session} onClose={close} onDeleted={() => go('/sessions')} />
        )}
        {dialog !== null && dialog !== 'delete' && supervision !== undefined && (
          <SupervisionDialog kind={dialog} supervision={supervision} onClose={close} />
        )}
      </Suspense>
    </>
  )
}

/** Stops the run that works or waits in its queue. */
function StopRun({ session }: { session: Session }) {
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const { data } = useRuns(session.session_id)
  const active = data?.runs.find(({ status }) => status === 'running' || status === 'queued' || status === 'waiting')
  const stop = useMutation({
    mutationFn: (runId: string) => client.cancel(runId),
    onSuccess: ({ status }) => {
      // It answers before the run has stopped.
      const isStopping = status === 'cancelled' || status === 'running' || status === 'queued' || status === 'waiting'
      announce(isStopping ? 'Stopping the run' : 'The run has already ended')
      void queries.invalidateQueries({ queryKey: ['session', session.session_id] })
    },
    onError: (error) => announce(`The run could not be stopped. ${error.message}`),
  })
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
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const isPaused = supervision.status === 'paused'
  const change = useMutation({
    mutationFn: () =>
      isPaused ? client.sessions.resume(session.session_id) : client.sessions.pause(session.session_id),
    onSuccess: () => {
      announce(isPaused ? 'The agent goes on' : 'Paused. The agent’s calls are refused until it is resumed')
      void queries.invalidateQueries({ queryKey: ['session', session.session_id] })
    },
    onError: (error) => announce(error.message),
  })
  const isOpen = supervision.status === 'active' || isPaused
  const run = () => isLive && !change.isPending && change.mutate()
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

/** Switches the alerts about the silence of this agent off, or on again. */
function useStallsSwitch(sessionId: string): (enabled: boolean) => void {
  const client = useClient()
  const queries = useQueryClient()
  const change = useMutation({
    mutationFn: (enabled: boolean) => client.sessions.stalls(sessionId, enabled),
    onSuccess: ({ stalls_enabled }) => {
      announce(stalls_enabled ? 'Its silence counts again, from now' : 'Its silence raises no alert and no nudge')
      void queries.invalidateQueries({ queryKey: ['session', sessionId] })
    },
    onError: (error) => announce(error.message),
  })
  return (enabled) => change.mutate(enabled)
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
