import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMe } from '../../../data/me.ts'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { given } from '../../../given.ts'
import { announce } from '../../../parts/Announcer.tsx'
import { ErrorNotice } from '../../../parts/approval/Problem.tsx'
import { FormDialog } from '../../../parts/Dialog.tsx'
import { TextField } from '../../../parts/Field.tsx'
import { useAction } from '../../../parts/use-action.ts'
import { codeIn } from '../../../sign-in/code-in-address.ts'
import { deviceName } from '../../../sign-in/device-name.ts'
import { makePasskey } from '../../../sign-in/passkey.ts'
import { withProof } from '../../../sign-in/step-up.ts'

const LONGEST = 100

/** People have it as a link. */
const codeOf = (text: string): string => codeIn(text.slice(text.indexOf('#')))?.code ?? text

export function AddPasskey({ onClose }: { onClose: () => void }) {
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const [label, setLabel] = useState(() => deviceName())
  const [code, setCode] = useState('')
  const { data: me } = useMe()
  // They have no device that somebody could have let in.
  const needsCode = me !== undefined && me.device === null && me.passkeys.registered > 0 && me.passkeys.mine === 0
  const { isBusy, error, run } = useAction()

  async function add(): Promise<void> {
    const isAdded = await run(async () => {
      const challenge = await client.passkeys.options()
      const made = {
        challenge_id: challenge.challenge_id,
        response: await makePasskey(challenge),
        label: label.trim(),
        ...given({ code: needsCode && code.trim() !== '' ? codeOf(code.trim()) : null }),
      }
      await withProof({ kind: 'passkey' }, (proof) => client.passkeys.add(made, proof))
      await Promise.all(['passkeys', 'me'].map((key) => queries.invalidateQueries({ queryKey: [key] })))
    })
    if (!isAdded) return
    announce('The passkey is added')
    onClose()
  }
  return (
    <FormDialog
      title="Add a passkey"
      verb="Go on"
      isReady={isLive}
      isBusy={isBusy}
      onSend={() => void add()}
      onClose={onClose}
      problem={<ErrorNotice error={error} />}
    >
      <TextField
        label="Name"
        help="To tell your passkeys apart. Then your browser asks you where to keep it. If you have one already, confirm with that one too."
        autoFocus
        maxLength={LONGEST}
        value={label}
        onChange={({ target }) => setLabel(target.value)}
      />
      {needsCode && (
        <TextField
          label="Code"
          help="Others have passkeys, so your first one needs a code: ask somebody who has one to add a device for you, and paste the link here."
          maxLength={500}
          autoComplete="off"
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      )}
    </FormDialog>
  )
}
