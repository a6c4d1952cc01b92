import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Dialog } from '../../../parts/Dialog.tsx'
import { TextField } from '../../../parts/Field.tsx'
import { Failed } from '../../../parts/States.tsx'
import { counted } from '../../../words.ts'
import styles from './MakeCheckpointDialog.module.css'

export function MakeCheckpointDialog({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const formId = useId()
  const [label, setLabel] = useState('')
  const [contents, setContents] = useState(true)
  const make = useMutation({
    mutationFn: () =>
      client.sessions.checkpoint(sessionId, { contents, ...(label.trim() === '' ? {} : { label: label.trim() }) }),
    onSuccess: ({ files }) => {
      announce(`Kept ${counted(files, 'file')}`)
      void queries.invalidateQueries({ queryKey: ['session', sessionId] })
      onClose()
    },
  })
  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    if (isLive && !make.isPending) make.mutate()
  }
  return (
    <Dialog
      title="Make a checkpoint"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={formId} isBusy={make.isPending} disabled={!isLive}>
            {make.isPending ? 'Reading the files…' : 'Make it'}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={onSubmit} className={styles.form}>
        <TextField
          label="Label"
          placeholder="before the migration"
          maxLength={200}
          autoFocus
          value={label}
          onChange={(event) => setLabel(event.target.value)}
        />
        <label className={styles.check}>
          <input type="checkbox" checked={contents} onChange={(event) => setContents(event.target.checked)} />
          <span>
            Keep the contents, not only their hashes
            <span className={styles.help}>Without them one can compare, but not restore.</span>
          </span>
        </label>
      </form>
      {make.error !== null && <Failed error={make.error} />}
    </Dialog>
  )
}
