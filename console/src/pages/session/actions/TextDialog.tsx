import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { useIsLive } from '../../../data/use-live.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Dialog } from '../../../parts/Dialog.tsx'
import { TextArea } from '../../../parts/Field.tsx'
import { Failed } from '../../../parts/States.tsx'

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
export function TextDialog({
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
