// A session as Markdown, for people. What was said is quoted line by line and what ran stands in code blocks, so that no text of a
// person, a model or a tool can pass for another part of the document.

import { isoTime } from '../../../domain/clock.ts'
import type { Approval } from '../../../domain/records/record.ts'
import { type Feedback, type StoredMessage, textOf } from '../../../domain/session/message.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { visibleProse } from '../../../domain/text/visible-text.ts'

export function markdownHead({ owner, agent, createdAt }: SessionRecord, title: string, exportedAt: number): string {
  return [
    `# ${inline(title === '' ? 'Session without a title' : title)}`,
    '',
    `- Owner: ${inline(owner)}`,
    `- Agent: ${inline(agent)}`,
    `- Begun: ${timeOf(createdAt)}`,
    `- Exported: ${timeOf(exportedAt)}`,
    '',
  ].join('\n')
}

/** Empty for what nobody said: instructions, reasoning, activities. `argumentsOf` may mask them. */
export function markdownMessage(
  message: StoredMessage,
  feedback: readonly Feedback[],
  argumentsOf: (text: string) => string,
): string {
  const { role, content, createdAt, agentName, toolCalls = [], error } = message
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return ''
  const who = { user: 'User', assistant: agentName ?? 'Agent', tool: error === undefined ? 'Result' : 'Failed call' }[
    role
  ]
  const words = textOf(content)
  return [
    `\n## ${inline(who)} · ${timeOf(createdAt)}\n`,
    ...(words.trim() === '' ? [] : [role === 'tool' ? codeBlock(words) : quoted(words), '']),
    ...toolCalls.flatMap(({ function: { name, arguments: args } }) => [
      `Called ${inline(name)}:\n`,
      codeBlock(argumentsOf(args), 'json'),
      '',
    ]),
    ...feedback.map(({ value, by, at, note }) =>
      line(`${value === 'up' ? '👍 Good' : '👎 Bad'}, says ${inline(by)} · ${timeOf(at)}`, note),
    ),
  ].join('\n')
}

export const DECISIONS = '\n## Decisions\n\n'

export const markdownDecision = ({ tool, status, decidedBy, decidedAt, createdAt, reason }: Approval): string =>
  line(
    `${timeOf(decidedAt ?? createdAt)}: ${inline(tool)} – ${inline(status)}${decidedBy === null ? '' : ` by ${inline(decidedBy)}`}`,
    reason,
  )

const line = (fact: string, words: string | null): string =>
  `- ${fact}${words === null || words.trim() === '' ? '' : `: ${inline(words)}`}\n`

const timeOf = (ms: number): string => `${isoTime(ms).slice(0, 16).replace('T', ' ')} UTC`

/** One line in which nothing has a meaning for Markdown. */
const inline = (text: string): string =>
  visibleProse(text.toWellFormed().replace(/\s+/g, ' ').trim()).replace(/[\\`*_~[\]<>|&$]/g, '\\$&')

/** Every line begins with a `>`. HTML could leave the quotation, so none begins here outside a code block. */
function quoted(text: string): string {
  let fence: string | null = null
  const lines = linesOf(text).map((one) => {
    const [, marks = '', rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(one) ?? []
    const isEnd = fence !== null && marks.startsWith(fence) && rest.trim() === ''
    const isStart = fence === null && marks !== '' && !(marks.startsWith('`') && rest.includes('`'))
    const shown = fence !== null && !isEnd ? one : one.replace(/<(?=[A-Za-z/!?])/g, '\\<')
    if (isEnd) fence = null
    else if (isStart) fence = marks
    return `> ${shown}`.trimEnd()
  })
  return lines.join('\n')
}

/** The fence is longer than any row of backticks in the text. */
function codeBlock(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([row]) => row.length))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}${language}`, ...linesOf(text), fence].join('\n')
}

/** Markdown ends a line at each of these. */
const linesOf = (text: string): string[] => visibleProse(text.toWellFormed()).split(/\r\n|\r|\n/)
