// A file of questions whose answers are known, to measure a search: a list.

import { z } from 'zod'
import type { KnowledgeQuestion } from '../../domain/knowledge/question.ts'
import type { ConfigIssue } from '../config-error.ts'
import { count, key, oneOrMore, text } from '../source/schema-key.ts'
import { readYamlConfig } from '../source/yaml-config.ts'

const question = z.strictObject({
  question: key(text(), 'What is looked for.', 'How long is parental leave?'),
  file: key(
    oneOrMore(text()),
    'The file with the answer, relative to its source, or a glob.',
    'leave.md',
    'a file or a glob, or a list of them',
  ),
  heading: key(text().optional(), 'A part of the path of headings above the answer.', 'Parental leave'),
  page: key(count().optional(), 'The page with the answer.', 3),
  contains: key(oneOrMore(text()).optional(), 'What the passage says.', '20 days', 'text, or a list of texts'),
})

const schema = z.strictObject({ questions: z.array(question).min(1) })

export const STARTER = '- { question: How long is parental leave?, file: leave.md }'

/** `file` is the path as messages name it. Without issues, there is at least one question. */
export function readQuestions(
  file: string,
  content: string,
): { questions: KnowledgeQuestion[]; issues: ConfigIssue[] } {
  const { value, issues } = readYamlConfig({
    ...{ file, text: content, schema, starter: STARTER, listKey: 'questions' },
    ...{ env: {}, secrets: [] },
  })
  const questions = (value?.questions ?? []).map(({ question, file: files, heading, page, contains = [] }) => ({
    ...{ question, files, heading: heading ?? null, page: page ?? null, contains },
  }))
  return { questions, issues }
}
