import { ClientError } from 'quarterdeck/client'
import { errorText } from '../../error-text.ts'
import { PasskeyCancelled } from '../../sign-in/passkey.ts'
import { Notice } from './Notice.tsx'

/** Why a decision did not work, in the server's own words. */
export const Problem = ({ error }: { error: unknown }) => (
  <ErrorNotice error={isUnreachable(error) ? new Error(UNHEARD) : error} hasPointers />
)

/** Why something did not work, in the server's words. Somebody who changed their mind is not a failure. */
export function ErrorNotice({ error, hasPointers = false }: { error: unknown; hasPointers?: boolean }) {
  if (error === null) return null
  const details = error instanceof ClientError ? (error.problem?.errors ?? []) : []
  return (
    <div role="alert">
      <Notice tone={error instanceof PasskeyCancelled ? 'neutral' : 'bad'}>
        <p>{errorText(error)}</p>
        {details.map(({ pointer, detail }) => (
          <p key={pointer + detail}>
            {hasPointers && pointer !== '' && <code>{pointer}</code>} {detail}
          </p>
        ))}
      </Notice>
    </div>
  )
}

const UNHEARD = 'The server did not answer, so nobody knows whether the decision arrived. Look again when it is back.'

export const isUnreachable = (error: unknown): boolean => error instanceof ClientError && error.code === 'unreachable'
