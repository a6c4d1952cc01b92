import { useMutation } from '@tanstack/react-query'
import type { Session } from 'quarterdeck/client'
import { isOwn, useMe } from '../../../data/me.ts'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Dialog, DialogButtons } from '../../../parts/Dialog.tsx'
import { Failed } from '../../../parts/States.tsx'
import { counted, sessionTitle } from '../../../words.ts'

interface DeleteProps {
  sessions: readonly Session[]
  onClose: () => void
  /** Called for each as soon as it is gone: a later one may fail. */
  onDeleted: (session: Session) => void
}

/** Asks before it deletes. Sessions of others cannot be deleted, and this says so. */
export default function DeleteSessionDialog({ sessions, onClose, onDeleted }: DeleteProps) {
  const client = useClient()
  const isLive = useIsLive()
  const { data: me } = useMe()
  const own = me === undefined ? sessions : sessions.filter(({ owner }) => isOwn(me, owner))
  const [other] = sessions.filter((session) => !own.includes(session))
  const remove = useMutation({
    async mutationFn() {
      for (const session of own) {
        await client.deleteSession(session.session_id)
        onDeleted(session)
      }
    },
    onSuccess: () => {
      announce(own.length === 1 ? 'Deleted the session' : 'Deleted the sessions')
      onClose()
    },
  })
  const nameOf = (session: Session) => `“${sessionTitle(session)}”`
  if (me !== undefined && own.length === 0 && other !== undefined) {
    return (
      <Dialog title="Only its owner can delete it" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
        <p>
          {nameOf(other)} belongs to <bdi>{other.owner}</bdi>, and you are signed in as <bdi>{me.user}</bdi>. Operators
          read the sessions of others but do not delete them.
        </p>
      </Dialog>
    )
  }
  const [first] = own
  const isOne = own.length === 1 && first !== undefined
  return (
    <Dialog
      title={isOne ? 'Delete this session?' : `Delete ${counted(own.length, 'session')}?`}
      onClose={onClose}
      actions={
        <DialogButtons
          onCancel={onClose}
          cancel={isOne ? 'Keep it' : 'Keep them'}
          kind="danger"
          isBusy={remove.isPending}
          disabled={!isLive || me === undefined}
          onClick={() => remove.mutate()}
        >
          Delete
        </DialogButtons>
      }
    >
      <p dir="auto">
        {isOne
          ? `${nameOf(first)} and everything in it goes for good: its log, its files and its approvals. A run in it stops.`
          : 'They and everything in them go for good: their logs, their files and their approvals. Runs in them stop.'}
      </p>
      {other !== undefined && (
        <p>{counted(sessions.length - own.length, 'session')} of others stay: only their owners can delete them.</p>
      )}
      {remove.error !== null && <Failed error={remove.error} />}
    </Dialog>
  )
}
