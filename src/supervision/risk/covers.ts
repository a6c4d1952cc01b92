// Whether what a person once said about a piece of work is about another one too.

import { relative, resolve, sep } from 'node:path'
import type { WorkMatch } from '../../domain/supervision/grant.ts'
import { globMatches } from '../../domain/text/glob.ts'
import { textsIn } from '../../json/texts-in.ts'
import { type Assessment, RISKS, type Work, type WorkRisk } from './risk.ts'
import { allCommands, plainCommand } from './shell-words.ts'

/** A yes never covers what is critical, nor what is riskier than the work that the person was shown. */
export function covers(match: WorkMatch, shownRisk: WorkRisk, work: Work, { risk, matches }: Assessment): boolean {
  if (risk === 'critical' || RISKS.indexOf(risk) > RISKS.indexOf(shownRisk)) return false
  // What nobody may remember is not remembered either.
  if (matches.length === 0) return false
  if (match.type === 'tool')
    return work.command === null && work.toolName === match.tool && matches.some(({ type }) => type === 'tool')
  if (match.type === 'writes') {
    const [first] = matches
    return risk === 'low' && first?.type === 'writes' && globMatches(match.pattern, first.pattern)
  }
  if (match.type === 'command') {
    const [first] = matches
    return first?.type === 'command' && first.command === match.command && first.folder === match.folder
  }
  const words = work.command === null ? null : plainCommand(work.command, '~')
  if (words === null || !matches.some(({ type }) => type === 'begins')) return false
  // More words can make a high command a very different one.
  return beginsWith(words, match.words) && (risk !== 'high' || words.length === match.words.length)
}

/** A no covers more: the same words anywhere in a longer line, and every path that fits. */
export function coversRefused(match: WorkMatch, work: Work): boolean {
  const { command, toolName, input, workspaceRoot, cwd } = work
  if (match.type === 'tool') return toolName === match.tool
  if (match.type === 'writes') {
    const paths = [...textsIn(input)].flatMap((text) => [resolve(workspaceRoot, text), resolve(cwd, text)])
    return paths.some((path) => globMatches(match.pattern, relative(workspaceRoot, path).split(sep).join('/')))
  }
  if (command === null) return false
  if (match.type === 'command') return command.trim() === match.command.trim()
  return allCommands(command, '~').some((words) => words.some((_, i) => beginsWith(words.slice(i), match.words)))
}

const beginsWith = (words: readonly string[], first: readonly string[]): boolean =>
  first.length > 0 && first.length <= words.length && first.every((word, i) => word === words[i])
