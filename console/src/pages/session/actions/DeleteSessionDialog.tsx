import { useMutation } from '@tanstack/react-query'
import type { Session } from 'quarterdeck/client'
import { isOwn, useMe } from '../../../data/me.ts'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Dialog, DialogButtons } from '../../../parts/Dialog.tsx'
import { Failed } from '../../../parts/States.tsx'
import { sessionTitle } from '../../../words.ts'

interface DeleteProps {
  session: Session
  onClose: () => void
  onDeleted: () => void
}

/** Asks before it deletes. A session of somebody else cannot be deleted, and this says so. */
export default function DeleteSessionDialog({ session, onClose, onDeleted }: DeleteProps) {
  const client = useClient()
  const isLive = useIsLive()
  const { data: me } = useMe()
  const remove = useMutation({
    mutationFn: () => client.deleteSession(session.session_id),
    onSuccess: () => {
      announce('Deleted the session')
      onClose()
      onDeleted()
    },
  })
  const title = `“${sessionTitle(session)}”`
  if (me !== undefined && !isOwn(me, session.owner)) {
    return (
      <Dialog title="Only its owner can delete it" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
        <p>
          {title} belongs to <bdi>{session.owner}</bdi>, and you are signed in as <bdi>{me.user}</bdi>. Operators read
          the sessions of others but do not delete them.
        </p>
      </Dialog>
    )
  }
  return (
    <Dialog
      title="Delete this session?"
      onClose={onClose}
      actions={
        <DialogButtons
          onCancel={onClose}
          cancel="Keep it"
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
        {title} and everything in it goes for good: its log, its files and its approvals. A run in it stops.
      </p>
      {remove.error !== null && <Failed error={remove.error} />}
    </Dialog>
  )
}
