import { createElement, type ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { WordsContext } from '../markdown/Inline.tsx'
import { Markdown } from '../markdown/Markdown.tsx'
import { readCitations } from './citations.ts'
import { CitingWords, SourceCards } from './Sources.tsx'

const leave = { id: 'p1', number: 3, tool: 'handbook', file: 'leave.md', heading: 'Leave > Parental leave', page: 4 }
const citations = readCitations({
  messageId: 'm',
  sources: [
    { ...leave, text: 'Parents get 20 days.' },
    { id: 'p2', number: 12, file: '<b>\u202epay.md', line: 7, text: '', changed: true },
  ],
  not_found: [7],
})
const onOpen = () => {}

/** The page without the names of styles. */
const pageOf = (element: ReactNode): string =>
  renderToStaticMarkup(element).replace(/ (?:class|dir|style)="[^"]*"/g, '')

const answer = (text: string): string => {
  const drawWords = (words: string) => createElement(CitingWords, { text: words, citations, onOpen })
  return pageOf(createElement(WordsContext, { value: drawWords }, createElement(Markdown, { text })))
}

test('reads what an answer cites, without the texts, and leaves out what is no source', () => {
  expect(citations).toEqual({
    sources: [
      { id: 'p1', number: 3, tool: 'handbook', name: 'leave.md · Leave > Parental leave · page 4', isChanged: false },
      { id: 'p2', number: 12, tool: null, name: '<b>\u202epay.md · line 7', isChanged: true },
    ],
    notFound: [7],
  })
  expect(readCitations({ sources: [null, { number: 1 }, 'x'], not_found: 'no' })).toEqual({ sources: [], notFound: [] })
})

test('a number leads to its source, and the words around it stay as they are', () => {
  const link = (number: number, words: string, name: string) =>
    `<a href="#source-${number}" title="${name}" aria-label="Source [${number}]: ${name}">${words}</a>`
  const name = 'leave.md · Leave &gt; Parental leave · page 4'

  expect(answer('Parents get **20 days [3]**.')).toBe(
    `<div><p>Parents get <strong>20 days ${link(3, '[3]', name)}</strong>.</p></div>`,
  )
  expect(answer('So it is [3, 7][3].')).toBe(
    `<div><p>So it is ${link(3, '[3', name)}, <mark title="Nothing was found under this number">7]</mark>${link(3, '[3]', name)}.</p></div>`,
  )
})

test('a number is only words in code, in a link, behind a name, and if it is no source of this answer', () => {
  const plain = ['`[3]`', '```\n[3]\n```', '[3](https://example.com)', 'list[3]', '[8]', '[3', '[^3]']
  for (const text of plain) {
    expect(answer(text), text).not.toContain('#source')
    expect(answer(text), text).not.toContain('Nothing was found')
  }
})

test('cards say number and place, what has changed, and which numbers mean nothing', () => {
  expect(pageOf(createElement(SourceCards, { citations, onOpen })).replace(/<svg.*<\/svg>/, '')).toBe(
    '<ul aria-label="Sources"><li><button type="button" title="leave.md · Leave &gt; Parental leave · page 4">' +
      '<span>[3]</span><bdi>leave.md · Leave &gt; Parental leave · page 4</bdi></button></li>' +
      '<li><button type="button" title="&lt;b&gt;\u202epay.md · line 7"><span>[12]</span>' +
      '<bdi><bdi>&lt;b&gt;<mark title="A character that cannot be seen">&lt;U+202E&gt;</mark>pay.md · line 7</bdi></bdi>' +
      '<span>Changed since</span></button></li></ul>' +
      '<div><div><p>The answer cites [7], but nothing was found under this number.</p></div></div>',
  )
  expect(pageOf(createElement(SourceCards, { citations: { sources: [], notFound: [7, 9] }, onOpen }))).toContain(
    'The answer cites [7], [9], but nothing was found under these numbers.',
  )
})
