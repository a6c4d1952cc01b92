// Whether what a person once said about a piece of work is about another one too.

import { relative, resolve, sep } from 'node:path'
import type { WorkMatch } from '../../domain/supervision/grant.ts'
import { globMatches } from '../../domain/text/glob.ts'
import { textsIn } from '../../json/texts-in.ts'
import { AND, type Assessment, isRiskier, type Work, type WorkRisk } from './risk.ts'
import { allCommands } from './shell-words.ts'

/**
 * A yes covers work that would offer the same match, so that a person was shown exactly this. It never covers what is critical, nor what
 * is riskier than the work that was shown.
 */
export function covers(match: WorkMatch, shownRisk: WorkRisk, work: Work, assessed: Assessment): boolean {
  const { risk, matches } = assessed
  if (risk === 'critical' || isRiskier(risk, shownRisk)) return false
  if (match.type === 'begins') return coverTogether([{ match, risk: shownRisk }], work, assessed).length > 0
  return matches.some((one) => {
    if (match.type === 'command')
      return one.type === 'command' && work.command === match.command && one.folder === match.folder
    if (match.type === 'tool') return one.type === 'tool' && work.toolName === match.tool
    return one.type === 'writes' && one === matches[0] && risk === 'low' && globMatches(match.pattern, one.pattern)
  })
}

/** The same for a line of several programs that have a yes together: all of these. Empty: one of them has none. */
export function coverTogether<T extends { match: WorkMatch; risk: WorkRisk }>(
  held: readonly T[],
  { toolName }: Pick<Work, 'toolName'>,
  { risk, beginnings = [] }: Assessment,
): T[] {
  if (risk === 'critical') return []
  const isFor = (match: WorkMatch, words: readonly string[], own: WorkRisk): boolean =>
    match.type === 'begins'
      ? programsOf(match.words).some((one) => one.join('\0') === words.join('\0'))
      : match.type === 'tool' && match.tool === toolName && own === 'low'
  const found = beginnings.flatMap(
    ({ words, risk: own }) =>
      held.find(({ match, risk: shown }) => !isRiskier(own, shown) && isFor(match, words, own)) ?? [],
  )
  return found.length === beginnings.length ? [...new Set(found)] : []
}

function programsOf(words: readonly string[]): string[][] {
  const programs: string[][] = [[]]
  for (const word of words) {
    if (word === AND) programs.push([])
    else programs.at(-1)?.push(word)
  }
  return programs
}

/** A no covers more: the same words anywhere in a longer line, and every path that fits. */
export function coversRefused(match: WorkMatch, { command, toolName, input, workspaceRoot, cwd }: Work): boolean {
  if (match.type === 'tool') return toolName === match.tool
  if (match.type === 'writes') {
    const paths = [...textsIn(input)].flatMap((text) => [resolve(workspaceRoot, text), resolve(cwd, text)])
    return paths.some((path) => globMatches(match.pattern, relative(workspaceRoot, path).split(sep).join('/')))
  }
  if (command === null) return false
  if (match.type === 'command') return withoutBlanks(command) === withoutBlanks(match.command)
  // Also behind `env`, `timeout` and the like.
  const commands = allCommands(command)
  const isIn = (first: readonly string[]): boolean =>
    commands.some((words) => words.some((_, i) => first.every((word, j) => word === words[i + j])))
  return programsOf(match.words).every(isIn)
}

/** A second space does not make it another command. */
const withoutBlanks = (command: string): string => command.trim().replaceAll(/\s+/g, ' ')
