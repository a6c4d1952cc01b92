import { isAtLeast, type Risk } from '../../domain/agent/tool-settings.ts'
import type { Quorum } from '../../domain/supervision/quorum.ts'
import type { Assessment } from '../risk/risk.ts'

interface Circumstances {
  /** What the work counts as at least, whatever it does. */
  floor: { risk: Risk; why: string } | null
  /** A person has to look at where it leads each time. */
  isGuarded: boolean
  quorum: Quorum
}

/** With what the gate itself knows about the work. One person's yes is remembered only where one yes is enough. */
export function raised(assessed: Assessment, { floor, isGuarded, quorum }: Circumstances): Assessment {
  const isLower = floor !== null && (assessed.risk === 'none' || !isAtLeast(assessed.risk, floor.risk))
  const { risk, why } = isLower ? floor : assessed
  const isOffered = !isGuarded && risk !== 'none' && risk !== 'critical' && quorum[risk] === 1
  return { ...assessed, risk, why, matches: isOffered ? assessed.matches : [] }
}

/** Of work that a person is asked about. */
export const askedRisk = ({ risk }: Assessment): Risk => (risk === 'none' ? 'low' : risk)
