import { describe, expect, test } from 'vitest'
import { loadLines, mistakesIn } from '../testing/load-lines.ts'

const files = { '/a/tools.ts': '', '/a/invoice.pdf': '', '/a/b.csv': '' }
const judge = 'judge: { provider: demo }\n'
const look = 'tools: [{ type: function, name: look, file: tools.ts }]\n'

function checksOf(keys: string, before = '') {
  const [one] = loadLines(`${before}test_cases: [{ name: t, input: hi, ${keys} }]`, { files }).testCases
  return one !== undefined && 'checks' in one ? one.checks : undefined
}

describe('a test case', () => {
  test('can be short', () => {
    expect(loadLines('test_cases: [{ name: says hello, input: Hi! }]').testCases).toEqual([
      {
        name: 'says hello',
        turns: ['Hi!'],
        files: [],
        tools: [],
        onlyTheseTools: false,
        approvals: [],
        checks: [],
        timeoutMs: 120_000,
      },
    ])
  })

  test('can set every key', () => {
    const { testCases } = loadLines(
      `${judge}${look}test_cases:
  - name: all
    turns: [One., Two.]
    files: [invoice.pdf, b.csv]
    tools: [look, { name: look }, { name: look, arguments: { a: [1] } }]
    only_these_tools: true
    approvals: [{ tool: look }, { tool: look, arguments: { a: 1 } }, { tool: look, decision: reject, reason: No. }]
    contains: [a, b]
    not_contains: c
    regex: ^x
    ignore_case: true
    json_schema: { type: object }
    ground_truth: It is so.
    similarity: 0.8
    judge: It is polite.
    timeout: 5`,
      { files },
    )
    expect(testCases).toEqual([
      {
        name: 'all',
        turns: ['One.', 'Two.'],
        files: ['/a/invoice.pdf', '/a/b.csv'],
        tools: [
          { name: 'look', arguments: null },
          { name: 'look', arguments: null },
          { name: 'look', arguments: { a: [1] } },
        ],
        onlyTheseTools: true,
        approvals: [
          { tool: 'look', decision: 'approve', arguments: null, reason: null },
          { tool: 'look', decision: 'approve', arguments: { a: 1 }, reason: null },
          { tool: 'look', decision: 'reject', arguments: null, reason: 'No.' },
        ],
        checks: [
          { check: 'contains', text: 'a', ignoreCase: true },
          { check: 'contains', text: 'b', ignoreCase: true },
          { check: 'not_contains', text: 'c', ignoreCase: true },
          { check: 'regex', pattern: '^x', flags: 'i' },
          { check: 'json_schema', schema: { type: 'object' } },
          { check: 'similarity', truth: 'It is so.', atLeast: 0.8 },
          { check: 'judge', truth: 'It is so.', criteria: 'It is polite.' },
        ],
        timeoutMs: 5000,
      },
    ])
  })

  test('has its ground truth compared by the judge, or word by word without a judge', () => {
    expect(checksOf('ground_truth: So.')).toEqual([{ check: 'similarity', truth: 'So.', atLeast: 0.5 }])
    expect(checksOf('ground_truth: So.', judge)).toEqual([{ check: 'judge', truth: 'So.', criteria: '' }])
    expect(checksOf('ground_truth: So., similarity: 1', judge)).toEqual([
      { check: 'similarity', truth: 'So.', atLeast: 1 },
    ])
    expect(checksOf('judge: Polite.', judge)).toEqual([{ check: 'judge', truth: null, criteria: 'Polite.' }])
  })

  test('uses a text from a variable as it is, with its commas', () => {
    const lines = 'test_cases: [{ name: t, input: hi, contains: "$' + '{WORDS}" }]'
    expect(loadLines(lines, { env: { WORDS: 'Hello, world' } }).testCases).toMatchObject([
      { checks: [{ check: 'contains', text: 'Hello, world', ignoreCase: false }] },
    ])
  })

  test('may expect tools that the file does not name, if a server adds them', () => {
    const server = 'tools: [{ type: mcp, name: s, command: x }]\n'
    expect(loadLines(`${server}test_cases: [{ name: t, input: hi, tools: [read_file] }]`).testCases).toHaveLength(1)
  })

  test.each([
    ['input: hi', '4:14 test_cases[0].name: this key is missing; expected text. Write e.g. name: knows the capital'],
    [
      'name: t',
      '4:14 test_cases[0]: expected exactly one of input and turns, found neither. Write e.g. input: What is the capital of France?',
    ],
    [
      'name: t, input: a, turns: [b]',
      '4:14 test_cases[0]: expected exactly one of input and turns, found both. Write e.g. input: What is the capital of France?',
    ],
    [
      'name: t, input: a, similarity: 0.5',
      '4:47 test_cases[0].similarity: similarity needs a ground_truth to compare with. Write e.g. ground_truth: The capital of France is Paris.',
    ],
    [
      'name: t, input: a, ground_truth: b, similarity: 80',
      '4:64 test_cases[0].similarity: expected a number between 0 and 1, found 80. Write e.g. similarity: 0.6',
    ],
    [
      'name: t, input: a, judge: polite',
      '4:42 test_cases[0].judge: this test needs a judge, and the agent has none. At the top level, write e.g. judge: { provider: openai, name: gpt-5-mini }',
    ],
    [
      'name: t, input: a, regex: "("',
      '4:42 test_cases[0].regex: "(" is not a regular expression (Unterminated group). Fix it.',
    ],
    [
      'name: t, input: a, files: no.pdf',
      '4:42 test_cases[0].files: no.pdf: there is no such file. Paths are relative to this file.',
    ],
    ['name: t, input: a, tools: [lok]', '4:43 test_cases[0].tools[0]: the agent has no tool lok. Did you mean look?'],
    [
      'name: t, input: a, tools: [{ name: other }]',
      '4:51 test_cases[0].tools[0].name: the agent has no tool other. It has look.',
    ],
    ['name: t, input: a, contain: b', '4:35 test_cases[0].contain: unknown key. Did you mean contains?'],
  ])('{ %s } is explained', (keys, expected) => {
    expect(mistakesIn(`test_cases: [{ ${keys} }]\n${look}`, { files })).toEqual([`agent.yaml:${expected}`])
  })

  test('must have a unique name', () => {
    const one = '{ name: t, input: hi }'
    expect(mistakesIn(`test_cases: [${one}, ${one}]`)).toEqual([
      'agent.yaml:4:46 test_cases[1].name: test_cases[0] already has this name. Give each test case its own name.',
    ])
  })
})

describe('a test case with documents', () => {
  const handbook = 'tools: [{ type: knowledge, name: handbook, source: docs }]\n'
  const withDocs = { ...files, '/a/docs/leave.md': '# Leave', '/a/q.yaml': '- { question: How long?, file: leave.md }' }
  const caseOf = (keys: string) => `${handbook}test_cases: [{ name: t, ${keys} }]`

  test('has the questions of its file, and what must be reached', () => {
    const question = { question: 'How long?', files: ['leave.md'], heading: null, page: null, contains: [] }
    const plain = { name: 't', knowledge: 'handbook', questions: [question], timeoutMs: 120_000 }
    const load = (keys: string) => loadLines(caseOf(keys), { files: withDocs }).testCases
    expect(load('knowledge: handbook, questions: q.yaml')).toEqual([{ ...plain, recallAt5: 0.9, mrr: null }])
    expect(load('knowledge: handbook, questions: q.yaml, recall_at_5: 0.5, mrr: 0.4')).toEqual([
      { ...plain, recallAt5: 0.5, mrr: 0.4 },
    ])
  })

  test.each([
    [
      'knowledge: handbook',
      '5:14 test_cases[0].questions: this key is missing; a case with knowledge needs a file of questions. Write e.g. questions: questions.yaml',
    ],
    [
      'knowledge: wiki, questions: q.yaml',
      '5:36 test_cases[0].knowledge: the agent has no tool of the type knowledge with the name "wiki". It has handbook.',
    ],
    [
      'knowledge: handbook, questions: q.yaml, input: Hi, contains: x',
      '5:72 test_cases[0].input: input has no effect beside knowledge, which asks no model. Make two test cases of it.',
      '5:86 test_cases[0].contains: contains has no effect beside knowledge, which asks no model. Make two test cases of it.',
    ],
    [
      'input: Hi, mrr: 0.5',
      '5:41 test_cases[0].mrr: mrr needs the documents that are searched. Write e.g. knowledge: handbook',
    ],
    [
      'knowledge: handbook, questions: broken.yaml',
      '5:57 test_cases[0].questions: broken.yaml:1:3 questions[0].file: this key is missing; expected a file or a glob, or a list of them. Write e.g. file: leave.md',
    ],
    [
      'knowledge: handbook, questions: none.yaml',
      '5:57 test_cases[0].questions: none.yaml: there is no such file. Paths are relative to this file.',
    ],
  ])('%s', (keys, ...expected) => {
    const broken = { ...withDocs, '/a/broken.yaml': '- { question: How long? }' }
    expect(mistakesIn(caseOf(keys), { files: broken })).toEqual(expected.map((one) => `agent.yaml:${one}`))
  })
})
