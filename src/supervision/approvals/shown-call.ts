// The arguments of a call in full, for the person who decides: everything that would run, with secrets masked and every hidden character
// marked. `shown-arguments.ts` is the short form, for lists and messages.

import { type Approval, isHostApproval, type SupervisedApproval } from '../../domain/records/record.ts'
import { lookalikeWarnings } from '../../domain/text/lookalike.ts'
import { looksSecret, MASKED, maskSecrets } from '../../domain/text/secret-name.ts'
import { hidesCharacters, markedLines, visibleText } from '../../domain/text/visible-text.ts'
import { callDigest, sha256 } from '../../json/digest.ts'

export interface ShownArgument {
  /** With hidden characters marked, so that no two names look the same. */
  name: string
  /** Texts keep their lines. Everything else is JSON over several lines. */
  text: string
  isJson: boolean
  /** Something in it is masked. */
  isSecret: boolean
  /** How many hidden characters are marked in it. */
  hidden: number
  /** Of the whole text as UTF-8, before marks. */
  bytes: number
  /** Null: all of it is in `text`. The hash is of the whole text, before marks. */
  cut: { shownBytes: number; sha256: string } | null
}

export interface ShownCall {
  arguments: ShownArgument[]
  /** Sentences about what a person may overlook. */
  warnings: string[]
}

/** Bytes of one value that are shown at once. */
const MOST_BYTES = 200_000

/** What would run: the arguments of the agent, or those that an operator put in their place. */
export const argumentsOf = ({ arguments: written, editedArguments }: Approval): Record<string, unknown> =>
  JSON.parse(editedArguments ?? written)

/** Whether the record has only a part of the arguments of a host's call: the digest is of all of them. */
export const isPartly = (record: SupervisedApproval): boolean =>
  record.kind === 'permission' && callDigest({ ...record, arguments: argumentsOf(record) }) !== record.digest

export function shownCall(approval: Approval, { isWhole = false }: { isWhole?: boolean } = {}): ShownCall {
  const why = approval.supervised?.change?.protectedBecause ?? null
  return {
    arguments: shownValues(argumentsOf(approval), { isWhole }),
    warnings: [...callWarnings(approval), ...(why === null ? [] : [`Protected: ${why}`])],
  }
}

/** What a person may overlook. That the file is protected is not among it: that is why it is a risk. */
export const callWarnings = (approval: Approval): string[] => [
  ...(approval.kind === 'question' ? [] : warningsAbout(argumentsOf(approval))),
  ...(isHostApproval(approval) ? warningsElsewhere(approval) : []),
]

export const shownValues = (args: Record<string, unknown>, { isWhole = false }: { isWhole?: boolean } = {}) =>
  Object.entries(args).map(([name, value]) =>
    shownArgument(name, value, isWhole ? Number.POSITIVE_INFINITY : MOST_BYTES),
  )

export const warningsAbout = (args: Record<string, unknown>): string[] => [
  ...(hidesCharacters(args)
    ? ['The arguments have hidden characters. They are written as marks, such as <U+202E>.']
    : []),
  ...lookalikeWarnings(maskSecrets(args)),
]

function warningsElsewhere(approval: SupervisedApproval): string[] {
  const { change } = approval.supervised
  return [
    ...(isPartly(approval) ? ['The arguments are too long to be kept here. Only a part of them is shown.'] : []),
    ...(change === null ? [] : change.warnings),
    ...(change?.hasHiddenText ? ['The change hides characters. They are written as marks, such as <U+202E>.'] : []),
  ]
}

function shownArgument(name: string, value: unknown, most: number): ShownArgument {
  const isJson = typeof value !== 'string'
  const isMasked = looksSecret(name)
  const open = isMasked ? MASKED : maskSecrets(value)
  const whole = typeof open === 'string' ? open : prettyJson(open)
  const kept = firstBytes(whole, most)
  const isSecret = isMasked || (isJson && whole !== prettyJson(value))
  const isCut = kept.length < whole.length
  const { text, marks } = marked(kept)
  return {
    name: visibleText(name),
    text,
    isJson: isJson && !isMasked,
    isSecret,
    // What is masked or cut off counts too.
    hidden: isSecret || isCut ? hiddenIn(value) : marks + (isJson ? escapesIn(whole) : 0),
    bytes: Buffer.byteLength(whole),
    cut: isCut ? { shownBytes: Buffer.byteLength(kept), sha256: sha256(whole) } : null,
  }
}

const prettyJson = (value: unknown): string => JSON.stringify(value, null, 2) ?? 'null'

/** One value with nothing masked and nothing left out. */
export const revealedText = (value: unknown): string =>
  marked(typeof value === 'string' ? value : prettyJson(value)).text

function marked(text: string): { text: string; marks: number } {
  const { lines, marks } = markedLines(text.split('\n'))
  return { text: lines.join('\n'), marks }
}

const hiddenIn = (value: unknown): number =>
  typeof value === 'string' ? marked(value).marks : marked(prettyJson(value)).marks + escapesIn(prettyJson(value))

/** JSON escapes some hidden characters itself. */
const escapesIn = (json: string): number => json.match(/(?<!\\)(?:\\\\)*\\u[0-9a-f]{4}/g)?.length ?? 0

/** The beginning of a text, and never half of a character. */
function firstBytes(text: string, most: number): string {
  if (text.length * 3 <= most || Buffer.byteLength(text) <= most) return text
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most))
  return text.slice(0, read)
}
