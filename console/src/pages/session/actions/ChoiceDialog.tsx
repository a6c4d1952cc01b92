import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { useIsLive } from '../../../data/use-live.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Dialog } from '../../../parts/Dialog.tsx'
import { Select } from '../../../parts/Field.tsx'
import { Failed } from '../../../parts/States.tsx'

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
export function ChoiceDialog({ title, label, help, verb, choices, current, send, onClose, onDone }: ChoiceDialogProps) {
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
