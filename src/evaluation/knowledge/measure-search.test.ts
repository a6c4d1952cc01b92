import { describe, expect, test } from 'vitest'
import type { Passage } from '../../domain/knowledge/passage.ts'
import type { KnowledgeQuestion } from '../../domain/knowledge/question.ts'
import type { Found } from '../../knowledge/knowledge.ts'
import { expectedText, foundText, isAnswer, measureSearch } from './measure-search.ts'

const passage = (file: string, given: Partial<Passage> = {}): Passage => ({
  id: file,
  file,
  place: { page: null, sheet: null, slide: null, line: 1 },
  headings: [],
  text: '',
  ...given,
})

const asks = (given: Partial<KnowledgeQuestion> = {}): KnowledgeQuestion => ({
  question: 'How long?',
  files: ['leave.md'],
  heading: null,
  page: null,
  contains: [],
  ...given,
})

const found = (...passages: Passage[]): Found => ({
  hits: passages.map((passage, at) => ({ passage, score: 10 - at, byWords: at + 1, byMeaning: null })),
  usage: [],
  lacks: [],
})

const never = new AbortController().signal

describe('measuring a search', () => {
  test('counts the place of the first right passage, and keeps what was found instead of the others', async () => {
    const others = ['a.md', 'b.md', 'c.md', 'd.md', 'e.md'].map((file) => passage(file))
    const right = passage('leave.md')
    const answers: Record<string, Found> = {
      first: found(right, ...others),
      second: found(passage('a.md'), right, right),
      sixth: { ...found(...others, right), lacks: ['Not all is read.'] },
      eleventh: found(...others, ...others, right),
      nothing: { ...found(), lacks: ['Not all is read.'], usage: [{ provider: 'p', model: 'm', inputTokens: 3 }] },
    }
    const questions = Object.keys(answers).map((question) => asks({ question }))
    const heard: number[] = []

    const measured = await measureSearch(
      questions,
      async (query) => answers[query] ?? found(),
      never,
      (done) => heard.push(done),
    )

    expect(measured).toEqual({
      questions: 5,
      recall: { at1: 0.2, at5: 0.4, at10: 0.6 },
      mrr: (1 + 1 / 2 + 1 / 6) / 5,
      misses: [
        { question: questions[2], place: 6, found: others.slice(0, 3) },
        { question: questions[3], place: null, found: others.slice(0, 3) },
        { question: questions[4], place: null, found: [] },
      ],
      lacks: ['Not all is read.'],
      usage: [{ provider: 'p', model: 'm', inputTokens: 3 }],
    })
    expect(heard).toEqual([1, 2, 3, 4, 5])
  })

  test('stops when it is told to', async () => {
    await expect(measureSearch([asks()], async () => found(), AbortSignal.abort())).rejects.toThrow('aborted')
  })
})

describe('a passage is right', () => {
  test('when it is of such a file: a path, or a glob', () => {
    const isIn = (files: string[], file: string) => isAnswer(asks({ files }), passage(file))
    expect(isIn(['leave.md'], 'leave.md')).toBe(true)
    expect(isIn(['leave.md'], 'old/leave.md')).toBe(false)
    expect(isIn(['./leave.md'], 'leave.md')).toBe(true)
    expect(isIn(['**/leave.md'], 'old/leave.md')).toBe(true)
    expect(isIn(['errors/*.md', 'x.md'], 'errors/e.md')).toBe(true)
    expect(isIn(['errors/*.md'], 'errors/old/e.md')).toBe(false)
    expect(isIn(['a[1].md'], 'a[1].md')).toBe(true)
  })

  test('when it has the heading, the page and the text, whatever the case of letters and the breaks of lines', () => {
    const one = passage('leave.md', {
      place: { page: 3, sheet: null, slide: null, line: null },
      headings: ['Leave', 'Parental leave'],
      text: 'Parents get 20\ndays for each child.',
    })
    expect(isAnswer(asks({ heading: 'leave > parental', page: 3, contains: ['20 DAYS', 'child'] }), one)).toBe(true)
    expect(isAnswer(asks({ heading: 'Sick leave' }), one)).toBe(false)
    expect(isAnswer(asks({ heading: 'Sick leave' }), { ...one, text: 'Text.\n\n## Sick leave\nCall.' })).toBe(true)
    expect(isAnswer(asks({ page: 2 }), one)).toBe(false)
    expect(isAnswer(asks({ contains: ['20 days', 'dogs'] }), one)).toBe(false)
  })
})

test('what was expected and found is said in one line each', () => {
  expect(expectedText(asks({ files: ['a.md', 'b.md'], heading: 'Leave', page: 3, contains: ['x', 'y'] }))).toBe(
    'a.md or b.md, page 3, Leave, with "x" and "y"',
  )
  expect(foundText(passage('a.md', { headings: ['Leave', 'Sick'] }))).toBe('a.md, Leave > Sick')
  expect(foundText(passage('a.md'))).toBe('a.md, line 1')
})
