// A question whose answer is known: which file says it, and where.

import { join } from 'node:path'
import type { Passage } from '../../src/domain/knowledge/passage.ts'
import { corpusFolder } from './corpus.ts'
import type { Kind, Language } from './packages.ts'

export const questionKinds = ['heading', 'paraphrase', 'term', 'code', 'index'] as const
export type QuestionKind = (typeof questionKinds)[number]

export interface Question {
  id: string
  kind: QuestionKind
  language: Language
  /** The kind of its document. */
  of: Kind
  file: string
  heading: string
  page: number | null
  /** Letters and digits that the passage has one after the other. */
  contains: string
  question: string
}

export const openPath = join(corpusFolder, 'questions.open.json')
export const sealedPath = join(corpusFolder, 'questions.sealed.json')

export const bare = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')

/** Of the right section, or with the very words. A heading alone does not do for what stands in the middle of a section. */
export function isAnswer(question: Question, passage: Passage): boolean {
  if (passage.file !== question.file) return false
  if (bare(passage.text).includes(question.contains)) return true
  if (question.kind === 'term' || question.kind === 'code') return false
  const heading = withoutNumber(question.heading)
  const own = [...passage.headings, ...passage.text.split('\n').flatMap((line) => /^#{1,6} (.*)/.exec(line)?.[1] ?? [])]
  return own.some((one) => withoutNumber(one) === heading)
}

/** `4.2. Leave`, `A.1. Leave` and `Leave` are the same heading. */
const withoutNumber = (heading: string): string =>
  bare(heading.replace(/^(?:\d+(?:\.\d+)*\.?|[A-Z](?:\.\d+)*\.)\s+/, ''))
