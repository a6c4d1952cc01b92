// The schema of `test_cases` in agent.yaml; `quarterdeck test` runs them.

import { z } from 'zod'
import { regexProblem } from '../source/check-json-schema.ts'
import { jsonSchema } from '../source/json-schema-yaml.ts'
import { duration, key, oneOrMore, type Report, reporter, text, twinsIn } from '../source/schema-key.ts'

const texts = 'text, or a list of texts'

const prose = () => oneOrMore(text()).optional().meta({ prose: true })

const expectedTool = z.union([
  text(),
  z.strictObject({
    name: key(text(), 'The tool that must be called.', 'get_weather'),
    arguments: key(
      z.record(z.string(), z.unknown()).optional(),
      'Arguments that must have exactly these values; the call may have others too.',
      { city: 'Paris' },
    ),
  }),
])

const caseApproval = z
  .strictObject({
    tool: key(text(), 'The tool whose calls this answers.', 'send_mail'),
    decision: key(z.enum(['approve', 'reject']).default('approve'), 'The person’s decision.', 'reject'),
    arguments: key(
      z.record(z.string(), z.unknown()).optional(),
      'With `approve`: arguments that replace the model’s.',
      { to: 'ada@example.com' },
    ),
    reason: key(text().optional(), 'What the agent is told, for example the reason for a rejection.', 'Not today.'),
  })
  .superRefine((answer, context) => {
    if (answer.decision === 'reject' && answer.arguments !== undefined) {
      reporter(context)(
        'arguments',
        'a rejected call does not run, so it has no arguments. Remove them, or write decision: approve',
      )
    }
  })

const share = () => z.number().min(0).max(1)

/** All that a case with `knowledge` may have. */
const ofSearch: readonly string[] = ['name', 'knowledge', 'questions', 'recall_at_5', 'mrr', 'timeout']

/** Keys that are left out have their defaults by now. */
const isLeftOut = (value: unknown): boolean =>
  value === undefined || value === false || (Array.isArray(value) && value.length === 0)

function checkSearch(test: Readonly<Record<string, unknown>>, report: Report): void {
  if (test.questions === undefined)
    report(
      'questions',
      'this key is missing; a case with knowledge needs a file of questions. Write e.g. questions: questions.yaml',
    )
  for (const [name, value] of Object.entries(test)) {
    if (ofSearch.includes(name) || isLeftOut(value)) continue
    report(name, `${name} has no effect beside knowledge, which asks no model. Make two test cases of it.`)
  }
}

const testCase = z
  .strictObject({
    name: key(text(), 'Name of the test case in reports; it must be unique.', 'knows the capital'),
    input: key(text().optional(), 'What the user says.', 'What is the capital of France?'),
    turns: key(
      z.array(text()).min(1).optional(),
      'Instead of `input`: what the user says, turn by turn. The checks look at the last answer.',
      ['I live in France.', 'What is my capital?'],
      'a list of texts',
    ),
    files: key(
      oneOrMore(text()).default([]),
      'Files to send with the first turn, relative to this file.',
      ['invoice.pdf'],
      'a file, or a list of files',
    ),
    tools: key(
      z
        .array(
          expectedTool.meta({
            expected: 'the name of a tool, or the keys name and arguments',
            example: { name: 'get_weather', arguments: { city: 'Paris' } },
          }),
        )
        .default([]),
      'Tools that must be called, in this order; other calls may come in between.',
      ['get_weather'],
      'a list of tools',
    ),
    only_these_tools: key(z.boolean().default(false), 'Fails the test if any other tool is called.', true),
    approvals: key(
      z.array(caseApproval).default([]),
      'Answers for calls that need approval, used in order for each tool; the last one answers all further calls.',
      [{ tool: 'send_mail', decision: 'approve' }],
      'a list of answers',
    ),
    contains: key(prose(), 'Text that the answer must contain.', 'Paris', texts),
    not_contains: key(prose(), 'Text that the answer must not contain.', 'I do not know', texts),
    regex: key(
      prose(),
      'JavaScript regular expression that the answer must match.',
      '\\bParis\\b',
      'a regular expression, or a list of them',
    ),
    ignore_case: key(
      z.boolean().default(false),
      'Makes `contains`, `not_contains` and `regex` ignore upper and lower case.',
      true,
    ),
    json_schema: key(
      jsonSchema().optional(),
      'The answer must be JSON that matches this JSON Schema.',
      { type: 'object', required: ['answer'] },
      'a JSON Schema',
    ),
    ground_truth: key(
      text().optional(),
      'A correct answer. If the agent has a `judge`, it compares the two; otherwise the shared words are counted.',
      'The capital of France is Paris.',
    ),
    similarity: key(
      z.number().min(0).max(1).optional(),
      'How similar the answer and `ground_truth` must be. Default: 0.5, if no judge compares them.',
      0.6,
    ),
    judge: key(
      text().optional(),
      'What the judge checks, in plain words. The agent needs a `judge`.',
      'The answer is polite and names one city.',
    ),
    knowledge: key(
      text().optional(),
      'Instead of `input`: a tool of the type `knowledge`, whose search is measured with the `questions`.',
      'handbook',
    ),
    questions: key(
      text().optional(),
      'With `knowledge`: a file of questions, as for `quarterdeck knowledge eval`, relative to this file.',
      'questions.yaml',
    ),
    recall_at_5: key(
      share().optional(),
      'With `knowledge`: for which share of the questions one of the first 5 passages must be right. Default: 0.9.',
      0.9,
    ),
    mrr: key(share().optional(), 'With `knowledge`: what the mean of 1 / place of the right passage must be.', 0.7),
    timeout: duration('How long all turns together may take.', '2m').prefault(120),
  })
  .superRefine((test, context) => {
    const report = reporter(context)
    if (test.knowledge !== undefined) return checkSearch(test, report)
    for (const one of ['questions', 'recall_at_5', 'mrr'] as const) {
      if (test[one] !== undefined)
        report(one, `${one} needs the documents that are searched. Write e.g. knowledge: handbook`)
    }
    if ((test.input === undefined) === (test.turns === undefined)) {
      const found = test.input === undefined ? 'neither' : 'both'
      report(
        [],
        `expected exactly one of input and turns, found ${found}. Write e.g. input: What is the capital of France?`,
      )
    }
    if (test.similarity !== undefined && test.ground_truth === undefined) {
      report(
        'similarity',
        'similarity needs a ground_truth to compare with. Write e.g. ground_truth: The capital of France is Paris.',
      )
    }
    for (const [index, pattern] of (test.regex ?? []).entries()) {
      const problem = regexProblem(pattern, '')
      if (problem !== null) report((test.regex ?? []).length > 1 ? ['regex', index] : 'regex', problem)
    }
  })

export const testCases = z.array(testCase).superRefine((list, context) => {
  for (const { index, first } of twinsIn(list, ({ name }) => name)) {
    const message = `test_cases[${first}] already has this name. Give each test case its own name.`
    reporter(context)([index, 'name'], message)
  }
})

export type TestCaseYaml = z.infer<typeof testCase>
