import { ClientError } from 'quarterdeck/client'
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
