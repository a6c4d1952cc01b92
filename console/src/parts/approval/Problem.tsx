import { ClientError } from 'quarterdeck/client'
import { PasskeyCancelled } from '../../sign-in/passkey.ts'
import { Notice } from './Notice.tsx'

/** Why a decision did not work, in the server's own words. */
export function Problem({ error }: { error: unknown }) {
  if (error === null) return null
  const details = error instanceof ClientError ? (error.problem?.errors ?? []) : []
  return (
    <div role="alert">
      <Notice tone={error instanceof PasskeyCancelled ? 'neutral' : 'bad'}>
        <p>{textOf(error)}</p>
        {details.map(({ pointer, detail }) => (
          <p key={pointer + detail}>
            {pointer !== '' && <code>{pointer}</code>} {detail}
          </p>
        ))}
      </Notice>
    </div>
  )
}

function textOf(error: unknown): string {
  if (error instanceof ClientError && error.code === 'unreachable') {
    return 'The server did not answer, so nobody knows whether the decision arrived. Look again when it is back.'
  }
  return error instanceof Error ? error.message : String(error)
}
