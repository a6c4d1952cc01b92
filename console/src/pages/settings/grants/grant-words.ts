// Conditions of a grant in words. Hidden characters in them are marked by the function that marks them everywhere.

import type { GrantCondition } from 'quarterdeck/client'
import { visibleText } from '../../../../../src/domain/text/visible-text.ts'

/** `is "ls -la"`, `looks like *.md`, `is above 5`. An unknown condition of a newer server is shown as it is. */
export function conditionWords(condition: unknown): string {
  const known = condition as GrantCondition
  if (Array.isArray(known)) return `is one of ${known.map(valueWords).join(', ')}`
  if (typeof known !== 'object' || known === null) return `is ${valueWords(known)}`
  if ('equals' in known) return `is ${valueWords(known.equals)}`
  if ('one_of' in known) return `is one of ${known.one_of.map(valueWords).join(', ')}`
  if ('matches' in known) return `looks like ${visibleText(known.matches)}`
  if ('path' in known) return `is a path like ${visibleText(known.path)}`
  if ('above' in known) return `is above ${known.above}`
  if ('below' in known) return `is below ${known.below}`
  if ('not' in known) return `not: ${conditionWords(known.not)}`
  return visibleText(JSON.stringify(condition))
}

/** How many arguments, or entries of an argument, there have to be. */
const COUNT = /^(?:(.*)\.)?#$/

/** One condition as a sentence: the argument, and what it has to be. A null argument: it is about the whole call. */
export function whereWords(name: string, condition: unknown): { argument: string | null; words: string } {
  const counted = COUNT.exec(name)
  if (counted === null) return { argument: visibleText(name), words: conditionWords(condition) }
  const count =
    typeof condition === 'object' && condition !== null && 'equals' in condition ? condition.equals : condition
  if (typeof count !== 'number') return { argument: visibleText(name), words: conditionWords(condition) }
  const [, path] = counted
  const things = path === undefined ? 'argument' : 'entry'
  const words = `has ${count} ${count === 1 ? things : things === 'entry' ? 'entries' : 'arguments'}`
  return { argument: path === undefined ? null : visibleText(path), words }
}

const valueWords = (value: unknown): string =>
  typeof value === 'string' ? `“${visibleText(value)}”` : visibleText(JSON.stringify(value) ?? 'nothing')
