import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../data/server.tsx'
import { useIsLive } from '../data/use-live.tsx'
import { announce } from './Announcer.tsx'
import { FormDialog } from './Dialog.tsx'
import { TextField } from './Field.tsx'
import { Failed } from './States.tsx'

interface RenameProps {
  session: { session_id: string; title: string }
  onClose: () => void
  onRenamed?: (title: string) => void
}

/** Asks for the name of a session. An empty one gives the automatic title back. */
export default function RenameDialog({ session: { session_id, title }, onClose, onRenamed }: RenameProps) {
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const [name, setName] = useState(title)
  const rename = useMutation({
    mutationFn: () => client.sessions.rename(session_id, name),
    onSuccess: (now) => {
      announce('Renamed')
      onClose()
      onRenamed?.(now.title)
      for (const key of ['session', 'sessions']) void queries.invalidateQueries({ queryKey: [key] })
    },
  })
  return (
    <FormDialog
      title="Rename this session"
      verb="Rename"
      isReady={isLive && name !== title}
      isBusy={rename.isPending}
      onSend={() => rename.mutate()}
      onClose={onClose}
      problem={rename.error !== null && <Failed error={rename.error} />}
    >
      <TextField
        label="Name"
        help="Leave it empty, and it is called after its first words."
        value={name}
        maxLength={200}
        dir="auto"
        autoComplete="off"
        onFocus={(event) => event.currentTarget.select()}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  )
}
