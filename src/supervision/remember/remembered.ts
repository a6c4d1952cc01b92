// Which remembered decision is about a piece of work of an agent elsewhere.

import type { Clock } from '../../domain/clock.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import { programOf } from '../../hosts/hosts.ts'
import type { GrantReads } from '../../store/ports/waits.ts'
import type { Assessment, Work } from '../risk/risk.ts'
import type { SupervisedSession } from '../sessions/take-step.ts'

export interface Remembered {
  /**
   * The no that covers this work, else the yes, or the yeses to all parts of a line. Empty: nobody has decided about the like. A no
   * counts before every policy. A yes counts after it, and never for what is critical: so `assessed` has to say `critical` for
   * everything that only a person may allow.
   */
  find(session: SupervisedSession, work: Work, assessed: Assessment): Promise<readonly Grant[]>
}

interface RememberedDeps {
  grants: Pick<GrantReads, 'list'>
  clock: Pick<Clock, 'now'>
}

export function createRemembered({ grants, clock }: RememberedDeps): Remembered {
  return {
    async find(session, work, assessed) {
      const agent = programOf(session.supervision.host)
      const held = await grants.list({ now: clock.now(), agent, sessionId: session.id })
      const near = held.filter((grant) => isFor(grant, session))
      if (near.length === 0) return []
      // With the parser of commands.
      const { covers, coversRefused, coverTogether } = await import('../risk/covers.ts')
      const no = near.find((one) => one.effect === 'refuse' && coversRefused(one.elsewhere.match, work))
      if (no !== undefined) return [no]
      const allows = ({ effect, elsewhere: { match, risk } }: GrantElsewhere): boolean =>
        effect !== 'refuse' && covers(match, risk, work, assessed)
      const yes = near.find(allows)
      if (yes !== undefined) return [yes]
      const allowed = near.filter(({ effect }) => effect !== 'refuse').map((grant) => ({ ...grant.elsewhere, grant }))
      return coverTogether(allowed, work, assessed).map(({ grant }) => grant)
    },
  }
}

type GrantElsewhere = Grant & Required<Pick<Grant, 'elsewhere'>>

/** Whether it is of this agent, this folder and this owner. Grants of our own agents are of nobody elsewhere. */
export const isFor = (grant: Grant, { owner, supervision }: SupervisedSession): grant is GrantElsewhere =>
  grant.agent === programOf(supervision.host) &&
  grant.elsewhere?.workspaceRoot === supervision.workspaceRoot &&
  grant.elsewhere.owner === owner
