import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Dialog } from '../../../parts/Dialog.tsx'
import { TextField } from '../../../parts/Field.tsx'
import { deviceName } from '../../../sign-in/device-name.ts'
import { makePasskey } from '../../../sign-in/passkey.ts'
import { withProof } from '../../../sign-in/step-up.ts'
import { ActionError } from '../ActionError.tsx'
import { useAction } from '../use-action.ts'

const LONGEST = 100

export function AddPasskey({ onClose }: { onClose: () => void }) {
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const [label, setLabel] = useState(() => deviceName())
  const { isBusy, error, run } = useAction()
  const form = useId()

  async function add(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (!isLive) return
    const isAdded = await run(async () => {
      const challenge = await client.passkeys.options()
      const made = { challenge_id: challenge.challenge_id, response: await makePasskey(challenge), label: label.trim() }
      await withProof({ kind: 'passkey' }, (passkey) =>
        client.passkeys.add(made, passkey === undefined ? {} : { passkey }),
      )
      await Promise.all(['passkeys', 'me'].map((key) => queries.invalidateQueries({ queryKey: [key] })))
    })
    if (!isAdded) return
    announce('The passkey is added')
    onClose()
  }
  return (
    <Dialog
      title="Add a passkey"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={form} isBusy={isBusy} disabled={!isLive}>
            Go on
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={(event) => void add(event)}>
        <TextField
          label="Name"
          help="To tell your passkeys apart. Then your browser asks you where to keep it. If you have one already, confirm with that one too."
          autoFocus
          maxLength={LONGEST}
          value={label}
          onChange={({ target }) => setLabel(target.value)}
        />
      </form>
      <ActionError error={error} />
    </Dialog>
  )
}
