// A session as Markdown, for people. What was said is quoted line by line and what ran stands in code blocks, so that no text of a
// person, a model or a tool can pass for another part of the document.

import { isoTime } from '../../../domain/clock.ts'
import { type Approval, endedAt } from '../../../domain/records/record.ts'
import { type Feedback, type StoredMessage, textOf } from '../../../domain/session/message.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { citationsIn, shownSource, sourceLines } from '../../../domain/session/source.ts'
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

/** Empty for what nobody said: instructions, reasoning, activities. */
export function markdownMessage(message: StoredMessage, feedback: readonly Feedback[]): string {
  const { role, content, createdAt, agentName, toolCalls = [], error } = message
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return ''
  const names = { user: 'User', assistant: agentName ?? 'Agent', tool: error === undefined ? 'Result' : 'Failed call' }
  const words = textOf(content)
  return [
    `\n## ${inline(names[role])} · ${timeOf(createdAt)}\n`,
    ...(words.trim() === '' ? [] : [role === 'tool' ? codeBlock(words) : quoted(words), '']),
    ...sourceList(message),
    ...toolCalls.flatMap(({ function: { name, arguments: args } }) => [
      `Called ${inline(name)}:\n`,
      codeBlock(args, 'json'),
      '',
    ]),
    ...feedback.map(({ value, by, at, note }) =>
      line(`${value === 'up' ? '👍 Good' : '👎 Bad'}, says ${inline(by)} · ${timeOf(at)}`, note),
    ),
  ].join('\n')
}

function sourceList({ role, metadata }: StoredMessage): string[] {
  const citations = role === 'assistant' ? citationsIn(metadata) : null
  if (citations === null) return []
  const lines = sourceLines(citations.sources.map(shownSource), citations.notFound)
  return [lines.map((one) => line(inline(one), null)).join('')]
}

export const DECISIONS = '\n## Decisions\n\n'

export function markdownDecision(approval: Approval): string {
  const { tool, status, decidedBy, reason } = approval
  const by = decidedBy === null ? '' : ` by ${inline(decidedBy)}`
  return line(`${timeOf(endedAt(approval))}: ${inline(tool)} – ${inline(status)}${by}`, reason)
}

const line = (fact: string, words: string | null): string =>
  `- ${fact}${words === null || words.trim() === '' ? '' : `: ${inline(words)}`}\n`

const timeOf = (ms: number): string => `${isoTime(ms).slice(0, 16).replace('T', ' ')} UTC`

/** Not a backslash before it: one before that one, or a link that ends with it, would take its meaning. */
const entities: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '[': '&#91;' }
const asEntity = (character: string): string => entities[character] ?? character

/** One line in which nothing has a meaning for Markdown. */
const inline = (text: string): string =>
  visibleProse(text.toWellFormed().replace(/\s+/g, ' ').trim())
    .replace(/[\\`*_~[\]|$]/g, '\\$&')
    .replace(/[<>&]/g, asEntity)

/**
 * Every line begins with a `>`. HTML could leave the quotation, so none begins here outside a code block, and neither does a picture, which
 * would be fetched from a stranger. A fence stands at the margin, after a blank line: elsewhere it could belong to a list, and end with it.
 */
function quoted(text: string): string {
  let fence: string | null = null
  const lines = linesOf(text).flatMap((one) => {
    const [, marks = '', rest = ''] = /^\s*(`{3,}|~{3,})(.*)$/.exec(one) ?? []
    if (fence !== null) {
      if (!marks.startsWith(fence) || rest.trim() !== '') return [one]
      fence = null
      return [marks]
    }
    const shown = one.replace(/<(?=[A-Za-z/!?])|\[(?<=!\[)/g, asEntity)
    if (marks === '' || (marks.startsWith('`') && rest.includes('`'))) return [shown]
    fence = marks
    return ['', shown.trimStart()]
  })
  return lines.map((line) => `> ${line}`.trimEnd()).join('\n')
}

/** The fence is longer than any row of backticks in the text. */
function codeBlock(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([row]) => row.length))
  const fence = '`'.repeat(longest + 1)
  return [`${fence}${language}`, ...linesOf(text), fence].join('\n')
}

/** Markdown ends a line at each of these. */
const linesOf = (text: string): string[] => visibleProse(text.toWellFormed()).split(/\r\n|\r|\n/)
