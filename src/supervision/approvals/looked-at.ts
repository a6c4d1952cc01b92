import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Decision } from '../../domain/supervision/decision.ts'
import { visibleText } from '../../domain/text/visible-text.ts'

const MOST_NAMES = 5
const MOST_NAME = 60

/** What the person had on their screen before they decided, as their own surface says, for the audit trail: in words, and short. */
export function lookedAtOf({ lookedAt }: Pick<Decision, 'lookedAt'>): AuditRecord['details'] {
  if (lookedAt === undefined) return {}
  const { isWhole, notSeen } = lookedAt
  if (isWhole && notSeen.length === 0) return { looked_at: 'everything' }
  const parts = notSeen
    .slice(0, MOST_NAMES)
    .map(
      ({ name, shown, total }) =>
        `${visibleText(name.slice(0, MOST_NAME).toWellFormed())} (${shown} of ${total} bytes)`,
    )
  const more = notSeen.length > MOST_NAMES ? [`${notSeen.length - MOST_NAMES} more`] : []
  return { looked_at: notSeen.length === 0 ? 'not everything' : `not everything: ${[...parts, ...more].join(', ')}` }
}
