// Which remembered decision is about a piece of work of an agent elsewhere.

import { isAtLeast, type Risk } from '../../domain/agent/tool-settings.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Grant, WorkMatch } from '../../domain/supervision/grant.ts'
import type { GrantReads } from '../../store/ports/waits.ts'
import type { Assessment, Work } from '../risk/risk.ts'
import type { SupervisedSession } from '../sessions/take-step.ts'

export interface Remembered {
  /**
   * The no that covers this work, else the yes. Null: nobody has decided about the like. A no counts before every policy. A yes counts
   * after it, and never for what is critical: so `assessed` has to say `critical` for everything that only a person may allow.
   */
  find(session: SupervisedSession, work: Work, assessed: Assessment): Promise<Grant | null>
}

/** Whether this match, given by somebody who was shown this risk, is about the work. */
export type Covers = (match: WorkMatch, shown: Risk, work: Work, assessed: Assessment) => boolean

interface RememberedDeps {
  grants: Pick<GrantReads, 'list'>
  clock: Pick<Clock, 'now'>
  covers: Covers
}

export function createRemembered({ grants, clock, covers }: RememberedDeps): Remembered {
  return {
    async find(session, work, assessed) {
      const { host } = session.supervision
      const held = await grants.list({ now: clock.now(), agent: host, sessionId: session.id })
      const near = held.filter((grant) => isFor(grant, session))
      const isCovered = ({ elsewhere, effect }: Grant): boolean => {
        if (elsewhere === undefined) return false
        if (effect === 'refuse') return covers(elsewhere.match, 'critical', work, assessed)
        return mayAllow(elsewhere.risk, assessed) && covers(elsewhere.match, elsewhere.risk, work, assessed)
      }
      return near.filter(isRefusal).find(isCovered) ?? near.find((one) => !isRefusal(one) && isCovered(one)) ?? null
    },
  }
}

const isRefusal = ({ effect }: Grant): boolean => effect === 'refuse'

/** Whether it is of this agent, this folder and this owner. Grants of our own agents are of nobody elsewhere. */
export function isFor({ agent, elsewhere }: Grant, { owner, supervision }: SupervisedSession): boolean {
  return (
    agent === supervision.host && elsewhere?.workspaceRoot === supervision.workspaceRoot && elsewhere.owner === owner
  )
}

/** Nothing critical is allowed in advance, and nothing riskier than what the person was shown. */
const mayAllow = (shown: Risk, { risk }: Assessment): boolean =>
  risk !== 'critical' && (risk === 'none' || isAtLeast(shown, risk))
