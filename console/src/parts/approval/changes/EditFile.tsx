import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keyText, useKeys } from '../../../app/Keys.tsx'
import { useClient } from '../../../data/server.tsx'
import { Dialog, DialogButtons } from '../../Dialog.tsx'
import { Pending } from '../../States.tsx'
import styles from '../EditDialog.module.css'
import { changeIn, withChange } from '../kept-change.ts'

interface EditFileProps {
  approvalId: string
  path: string
  /** What the draft has already. */
  kept: string | undefined
  /** Null: it is as the agent wrote it. */
  onKeep: (change: string | null) => void
  onClose: () => void
}

/** The whole file as it should be. It is not written before the yes. */
export default function EditFile({ approvalId, path, kept, onKeep, onClose }: EditFileProps) {
  const client = useClient()
  const file = useQuery({
    queryKey: ['approval', approvalId, 'content', path],
    queryFn: ({ signal }) => client.approval(approvalId, { signal, path, include: ['content'] }),
    // What is being typed must not be taken away.
    staleTime: Number.POSITIVE_INFINITY,
  })
  const original = file.data?.content ?? null
  const [text, setText] = useState<string | null>(null)
  const current = text ?? (original === null || kept === undefined ? original : withChange(original, kept))
  function keep(): void {
    if (original === null || current === null) return
    onKeep(current === original ? null : changeIn(original, current))
    onClose()
  }
  useKeys([{ keys: 'mod+Enter', name: 'Keep the edit', group: 'Decision', run: keep, isGlobal: true }])
  return (
    <Dialog
      title={`Edit ${path}`}
      width="full"
      onClose={onClose}
      actions={
        <DialogButtons onCancel={onClose} hint={keyText('mod+Enter')} disabled={current === null} onClick={keep}>
          Keep the edit
        </DialogButtons>
      }
    >
      {original === null ? (
        <Pending query={file} rows={1} height={320} />
      ) : (
        <textarea
          className={styles.file}
          aria-label="The whole file as it should be"
          spellCheck={false}
          autoCapitalize="off"
          dir="ltr"
          value={current ?? ''}
          onChange={({ target }) => setText(target.value)}
        />
      )}
    </Dialog>
  )
}
