import { relative, resolve, sep } from 'node:path'
import { isAtLeast, type Risk } from '../../domain/agent/tool-settings.ts'
import type { WorkMatch } from '../../domain/supervision/grant.ts'
import type { Quorum } from '../../domain/supervision/quorum.ts'
import type { Assessment, Work } from '../risk/risk.ts'

interface Circumstances {
  /** What the work counts as at least, whatever it does. */
  floor: { risk: Risk; why: string } | null
  /** A person has to look at where it leads each time. */
  isGuarded: boolean
  quorum: Quorum
  work: Work
  /** The file that it touches; null: none, or nobody knows. */
  path: string | null
}

/** With what the gate itself knows about the work. One person's word is remembered only where one is enough. */
export function raised(assessed: Assessment, { floor, isGuarded, quorum, work, path }: Circumstances): Assessment {
  const isLower = floor !== null && (assessed.risk === 'none' || !isAtLeast(assessed.risk, floor.risk))
  const { risk, why } = isLower ? floor : assessed
  const isOffered = risk !== 'none' && quorum[risk] === 1
  const offered = risk === 'critical' ? exactly(work, path) : isGuarded ? [] : assessed.matches
  return { ...assessed, risk, why, matches: isOffered ? offered : [] }
}

/** What a no to something critical may cover. A yes covers nothing of it: see `covers`. */
function exactly({ command, cwd, workspaceRoot, effect, toolName }: Work, path: string | null): WorkMatch[] {
  const within = (place: string) => relative(workspaceRoot, resolve(cwd, place)).split(sep).join('/')
  if (command !== null) return isShort(command) ? [{ type: 'command', command, folder: within('.') }] : []
  if (path !== null) {
    const pattern = within(path)
    return pattern !== '' && isShort(pattern) && !/[*?]/.test(pattern) ? [{ type: 'writes', pattern }] : []
  }
  return effect === 'reads' || effect === 'searches' ? [] : [{ type: 'tool', tool: toolName }]
}

/** As the wire takes it. */
const isShort = (text: string): boolean => text.length <= 4_000

/** What the question about a piece of work says of it. */
export const weighed = ({ risk, why, action, matches }: Assessment) => ({
  risk: risk === 'none' ? ('low' as const) : risk,
  riskWhy: why,
  action,
  matches,
})
