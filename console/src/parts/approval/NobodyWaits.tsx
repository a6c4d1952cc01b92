import { NOBODY_WAITS } from '../../../../src/domain/records/record.ts'
import { Time } from '../Time.tsx'
import { Notice } from './Notice.tsx'

/** Said where the call that asked was cancelled, or the agent's program has ended. */
export function NobodyWaits({ since }: { since: string | null }) {
  if (since === null) return null
  return (
    <Notice tone="warn">
      <span>
        {NOBODY_WAITS} The caller left <Time at={since} />.
      </span>
    </Notice>
  )
}
