import { type FormEvent, useId, useState } from 'react'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Dialog } from '../../../parts/Dialog.tsx'
import { TextField } from '../../../parts/Field.tsx'
import { ActionError } from '../ActionError.tsx'
import { useAction } from '../use-action.ts'

/** For a receiver that has lost something: the same messages once more, with the ids that they had. */
export function Replay({ name, onClose }: { name: string; onClose: () => void }) {
  const client = useClient()
  const isLive = useIsLive()
  const [after, setAfter] = useState('f.0')
  const [result, setResult] = useState<{ replayed: number; has_more: boolean } | null>(null)
  const { isBusy, error, run } = useAction()
  const form = useId()

  function replay(event: FormEvent): void {
    event.preventDefault()
    if (!isLive || after.trim() === '') return
    void run(async () => {
      const answer = await client.channels.replay(name, after.trim())
      setResult(answer)
      setAfter(answer.cursor)
    })
  }
  return (
    <Dialog
      title={`Send again to ${name}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" type="submit" form={form} isBusy={isBusy} disabled={!isLive || after.trim() === ''}>
            {result?.has_more ? 'Go on' : 'Send again'}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={replay}>
        <TextField
          label="Everything after"
          help="The id of the last message that arrived, such as f.12. With f.0 everything that is still known."
          value={after}
          autoFocus
          onChange={({ target }) => setAfter(target.value)}
        />
      </form>
      {result !== null && (
        <p role="status">
          {result.replayed === 1 ? '1 message is' : `${result.replayed} messages are`} sent again.{' '}
          {result.has_more ? 'There are more: go on in a moment.' : 'That is all.'}
        </p>
      )}
      <ActionError error={error} />
    </Dialog>
  )
}
