// The words of a program, sorted into options and the rest.

import { visibleText } from '../../domain/text/visible-text.ts'
import type { ShellWord } from './shell-words.ts'

/** A word that nobody knows. */
export const UNKNOWN: ShellWord = { text: 'its input', kind: 'any', variables: 'harmless' }

interface Parsed {
  options: ShellWord[]
  /** Values of options, other than texts. */
  values: ShellWord[]
  operands: ShellWord[]
}

export function parsed(
  words: readonly ShellWord[],
  valued: readonly string[] = [],
  worded: readonly string[] = [],
): Parsed {
  const result: Parsed = { options: [], values: [], operands: [] }
  let onlyOperands = false
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? UNKNOWN
    const next = words[i + 1]
    if (onlyOperands || !word.text.startsWith('-') || word.text === '-') result.operands.push(word)
    else if (word.text === '--') onlyOperands = true
    // A variable in quotes stays one word, so that a text may be anything.
    else if (word.kind !== 'any' && worded.some((one) => word.text.startsWith(`${one}=`))) continue
    else {
      result.options.push(word)
      if (next === undefined || next.kind === 'any') continue
      if (worded.includes(word.text)) i += 1
      else if (valued.includes(word.text)) {
        result.values.push(next)
        i += 1
      }
    }
  }
  return result
}

/** Long options may be cut off: `--outp` is `--output`. */
export function hasOption(options: readonly ShellWord[], names: readonly string[]): boolean {
  return options.some(({ text, kind }) => {
    const [name = ''] = text.split('=')
    if (kind === 'any' || kind === 'one' || /[*?[]/.test(name)) return names.length > 0
    return names.some((one) => {
      if (one.startsWith('--')) return name.length > 2 && one.startsWith(name)
      return one.length === 1 ? !name.startsWith('--') && name.slice(1).includes(one) : name === `-${one}`
    })
  })
}

const MAX_ACTION_CHARS = 60

export function actionOf(action: string, operands: readonly ShellWord[]): string {
  const texts = operands.map(({ text }) => text)
  const whole = action.replace(/\{(\/?)(.*)\}/, (_, slash, none) => texts.join(slash === '/' ? '/' : ' ') || none)
  const shown = visibleText(whole)
  return shown.length > MAX_ACTION_CHARS ? `${shown.slice(0, MAX_ACTION_CHARS - 1)}…` : shown
}
