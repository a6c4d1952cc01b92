// What would run, in parts: each has to be on the screen before a dangerous yes.

import type { ShownApproval, ShownArgument, ShownCall } from 'quarterdeck/client'
import { NOTHING_SEEN, type Seen } from '../seen/seen.ts'
import type { LookedPart } from './looked-at.ts'
import type { Version } from './versions-diff.ts'

export const DIFF = 'the diff'
export const PREVIEW = 'the preview'
export const QUESTION = 'the question'
export const POLICY = 'the policy'
export const ARGUMENTS = 'the arguments'

/** More arguments than this are shown as one text: each of its own would cost the page too much. */
const MOST_ARGUMENTS = 60

type Part = Omit<LookedPart, 'seen'>

const encoder = new TextEncoder()
const whole = (name: string, text: string): Part => {
  const bytes = encoder.encode(text).length
  return { name, bytes, loadedBytes: bytes }
}

const argumentPart = ({ name, bytes, cut }: ShownArgument): Part => ({
  name,
  bytes,
  loadedBytes: cut === null ? bytes : cut.shown_bytes,
})

function argumentParts({ arguments: args }: ShownCall): Part[] {
  const parts = args.map(argumentPart)
  if (parts.length <= MOST_ARGUMENTS) return parts
  const sum = (size: (part: Part) => number) => parts.reduce((all, part) => all + size(part), 0)
  return [{ name: ARGUMENTS, bytes: sum(({ bytes }) => bytes), loadedBytes: sum(({ loadedBytes }) => loadedBytes) }]
}

/** All arguments in one text, if there are very many. Null: each is shown by itself. */
export function manyArguments({ arguments: args }: ShownCall): string | null {
  if (args.length <= MOST_ARGUMENTS) return null
  return args.map(({ name, text, cut }) => `${name}: ${text}${cut === null ? '' : ' … (cut)'}`).join('\n')
}

/** A question shows the words of its tool, and no call: the call has begun. */
export function partsOf(approval: ShownApproval): Part[] {
  const { kind, shown, shown_diff, preview, description } = approval
  if (kind === 'question') return [whole(QUESTION, questionText(approval))]
  const hasDiff = shown_diff !== undefined && shown_diff !== ''
  return [
    ...(showsArguments(approval) ? argumentParts(shown) : []),
    ...(kind === 'policy' && description !== '' ? [whole(POLICY, description)] : []),
    ...(hasDiff ? [whole(DIFF, shown_diff)] : []),
    ...(preview !== null && preview !== '' ? [whole(PREVIEW, preview)] : []),
  ]
}

/** The description of a question is what the tool asks, line by line and with marks, and then what the answer may be. */
const questionLines = ({ question }: ShownApproval): number =>
  question?.message.split('\n').length ?? Number.MAX_SAFE_INTEGER

export const questionText = (approval: ShownApproval): string =>
  approval.description.split('\n').slice(0, questionLines(approval)).join('\n')

/** A change is shown as a diff. Its arguments are only the way it was asked for. */
const showsArguments = ({ kind }: Pick<ShownApproval, 'kind'>): boolean => kind === 'tool_call' || kind === 'permission'

export const withSeen = (parts: readonly Part[], seen: ReadonlyMap<string, Seen>): LookedPart[] =>
  parts.map((part) => ({ ...part, seen: seen.get(part.name) ?? NOTHING_SEEN }))

/** What is different between two questions about the same call. */
export function changesSince(before: ShownApproval, after: ShownApproval): Version[] {
  const texts = ({ shown }: ShownApproval) => new Map(shown.arguments.map(({ name, text }) => [name, text]))
  const [old, now] = [texts(before), texts(after)]
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((name) => ({ name, before: old.get(name) ?? null, after: now.get(name) ?? null }))
    .filter((version) => version.before !== version.after)
}
