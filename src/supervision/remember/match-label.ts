// What a remembered decision covers, in words: the same words in the question, in lists and in the trail.

import type { Risk } from '../../domain/agent/tool-settings.ts'
import type { RememberScope } from '../../domain/supervision/decision.ts'
import type { Grant, WorkMatch } from '../../domain/supervision/grant.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { unreachable } from '../../domain/unreachable.ts'
import { shownTitle } from '../agent-service/agent-words.ts'

/** `risk`: of the work that was shown. A yes covers no more. */
export function matchLabel(match: WorkMatch, risk: Risk): string {
  switch (match.type) {
    case 'command': {
      const where = match.folder === '' || match.folder === '.' ? '' : ` in ${visibleText(match.folder)}`
      return `This command${where}: ${shownTitle(match.command)}`
    }
    case 'begins':
      return `Commands that begin with ${match.words.map(shownWord).join(' ')}`
    case 'tool':
      return `${risk === 'low' ? 'Everything of low risk by the' : 'The'} tool ${visibleText(match.tool)}`
    case 'writes':
      // Only a no is about something critical, and it covers every call that names the path.
      return `${risk === 'critical' ? 'Calls that name' : 'Writes under'} ${visibleText(match.pattern)}`
    default:
      return unreachable(match)
  }
}

/** How far it reaches. */
export const scopeWords: Readonly<Record<RememberScope, string>> = {
  session: 'in this session',
  '15m': 'for 15 minutes',
  workspace: 'in this workspace, until revoked',
  always: 'always, until revoked',
}

/** Calls of our own agents have their conditions beside it. */
export const grantLabel = ({ elsewhere, tool }: Pick<Grant, 'elsewhere' | 'tool'>): string =>
  elsewhere === undefined ? `Calls of ${visibleText(tool)}` : matchLabel(elsewhere.match, elsewhere.risk)

/** In quotes if it could be taken for two words. */
const shownWord = (word: string): string => (/^[^\s'"\\]+$/.test(word) ? visibleText(word) : `'${visibleText(word)}'`)
