import { ClientError } from 'quarterdeck/client'
import { useState } from 'react'
import { Notice } from '../../parts/approval/Notice.tsx'
import { PasskeyCancelled } from '../../sign-in/passkey.ts'

/** Why something did not work, in the server's words. Somebody who changed their mind is not a failure. */
export function ActionError({ error }: { error: unknown }) {
  if (error === null) return null
  const details = error instanceof ClientError ? (error.problem?.errors ?? []) : []
  return (
    <div role="alert">
      <Notice tone={error instanceof PasskeyCancelled ? 'neutral' : 'bad'}>
        <p>{error instanceof Error ? error.message : String(error)}</p>
        {details.map(({ pointer, detail }) => (
          <p key={pointer + detail}>{detail}</p>
        ))}
      </Notice>
    </div>
  )
}

interface Action {
  isBusy: boolean
  /** Why the last try did not work. Null: it did, or there was none. */
  error: unknown
  /** True: it worked. Nothing happens while an earlier try is on its way. */
  run(work: () => Promise<void>): Promise<boolean>
}

/** Something that one does with a press, and that may fail. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  return {
    isBusy,
    error,
    async run(work) {
      if (isBusy) return false
      setBusy(true)
      setError(null)
      try {
        await work()
        return true
      } catch (thrown) {
        setError(thrown)
        return false
      } finally {
        setBusy(false)
      }
    },
  }
}
