import { expect, test } from 'vitest'
import { formatIssue } from '../config-error.ts'
import { readQuestions } from './questions-yaml.ts'

const mistakesIn = (text: string) => readQuestions('q.yaml', text).issues.map(formatIssue)

test('a file of questions is a list', () => {
  const text = `- question: How long is parental leave?
  file: leave.md
- { question: What is E-1042?, file: [errors/*.md, codes.md], heading: Errors, page: 3, contains: [E-1042, disk] }
`
  expect(readQuestions('q.yaml', text)).toEqual({
    questions: [
      { question: 'How long is parental leave?', files: ['leave.md'], heading: null, page: null, contains: [] },
      {
        question: 'What is E-1042?',
        files: ['errors/*.md', 'codes.md'],
        heading: 'Errors',
        page: 3,
        contains: ['E-1042', 'disk'],
      },
    ],
    issues: [],
  })
})

test('mistakes are named with their line, and with what to write', () => {
  expect(mistakesIn('- question: How long?\n  fiel: leave.md\n- question: 3\n  file: a.md\n  page: 0\n')).toEqual([
    'q.yaml:1:3 questions[0].file: this key is missing; expected a file or a glob, or a list of them. Write e.g. file: leave.md',
    'q.yaml:2:3 questions[0].fiel: unknown key. Did you mean file?',
    'q.yaml:3:13 questions[1].question: expected text, found 3. Write e.g. question: "3"',
    'q.yaml:5:9 questions[1].page: expected a whole number of at least 1, found 0. Write e.g. page: 3',
  ])
  expect(mistakesIn('hello')).toEqual([
    'q.yaml:1:1: expected a list at the top, found a single value. Write e.g. - { question: How long is parental leave?, file: leave.md }',
  ])
  expect(mistakesIn('')).toEqual([
    'q.yaml:1:1: the file is empty. Write e.g. - { question: How long is parental leave?, file: leave.md }',
  ])
  expect(mistakesIn('[]')).toEqual(['q.yaml:1:1 questions: expected a list, found an empty list.'])
})
