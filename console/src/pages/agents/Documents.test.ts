import type { KnowledgeFound, KnowledgeIndex } from 'quarterdeck/client'
import { createElement, type ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Hits } from './DocumentSearch.tsx'
import { ClearWords } from './Documents.tsx'

const pageOf = (element: ReactNode): string =>
  renderToStaticMarkup(element)
    .replace(/<[^>]*>/g, '|')
    .replace(/\|+/g, '|')

const found: KnowledgeFound = {
  hits: [
    {
      passage: { id: 'p1', file: 'leave.md', heading: 'Leave > Parental leave', text: '<b>20</b>\u202e days' },
      ...{ score: 7.4321, by_words: 1, by_meaning: 3 },
    },
    {
      passage: { id: 'p2', file: 'pay.xlsx', sheet: 'May', line: 3, text: 'Pay' },
      ...{ score: null, by_words: null, by_meaning: null },
    },
  ],
  lacks: ['Two files are not read yet.'],
}

test('a hit says where it stands, how good it is and how it was found', () => {
  expect(pageOf(createElement(Hits, { found }))).toBe(
    '|Two files are not read yet.|2 passages|' +
      'leave.md · Leave &gt; Parental leave|7.43| words 1, meaning 3|&lt;b&gt;20&lt;/b&gt;|&lt;U+202E&gt;| days|' +
      'pay.xlsx · sheet May| beside the hit above|Pay|',
  )
  expect(pageOf(createElement(Hits, { found: { hits: [], lacks: [] } }))).toBe('|Nothing was found. Try other words.|')
})

test('who clears an index is told what is read again, and what costs again', () => {
  const index: KnowledgeIndex = {
    ...{ id: 'k', used_by: [{ agent: 'clerk', tool: 'handbook' }], sources: ['./handbook'], state: 'ready', why: null },
    ...{ progress: null, files: 1, passages: 1_310, embedded: 1_310, updated_at: null, problems: [], problem_count: 0 },
    embedding: 'openai/text-embedding-3-small',
  }
  const words = pageOf(createElement(ClearWords, { index }))

  expect(words).toContain('1 file is read again')
  expect(words).toContain('1,310 passages are embedded again with |openai/text-embedding-3-small|. That costs')
  expect(pageOf(createElement(ClearWords, { index: { ...index, embedding: null } }))).not.toContain('embedded')
})
