import { Time } from '../Time.tsx'
import { Notice } from './Notice.tsx'

/** Said where the call that asked was cancelled, or the agent's program has ended. */
export function NobodyWaits({ since }: { since: string | null }) {
  if (since === null) return null
  return (
    <Notice tone="warn">
      Nobody waits for this answer since <Time at={since} />: the call was cancelled, or the agent’s program has ended.
      Your answer is kept in case it asks again.
    </Notice>
  )
}
