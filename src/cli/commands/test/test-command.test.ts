import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../../domain/clock.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo, type TestIoOptions } from '../../testing/test-io.ts'

const AGENT = `name: clerk
model: { provider: scripted, script: answers.yaml }
instructions: You answer.
tools:
  - type: function
    name: add
    description: Adds two numbers.
    file: add.mjs
    effect: read
  - type: function
    name: pay
    description: Pays an amount of money.
    file: add.mjs
    export: pay
    approval: always
judge: { provider: scripted, script: verdicts.yaml }
test_cases:
`

const ANSWERS = `loop: true
answers:
  - when: { user: Pay }
    parts: [{ tool_call: { name: pay, arguments: { amount: 5 } } }]
  - when: { tool: add }
    parts: [{ text: 'It is 3.' }, { usage: { input: 10, output: 5 } }]
  - when: { user: Add }
    parts: [{ tool_call: { name: add, arguments: { a: 1, b: 2 } } }, { usage: { input: 7, output: 3 } }]
  - when: { user: Sleep }
    parts: [{ hang: true }]
  - parts: [{ text: Hello there }]
`

const MODULE = `
export function add({ a, b }) { return String(a + b) }
add.parameters = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } }
export function pay() { throw new Error('never called') }
pay.parameters = { type: 'object', properties: { amount: { type: 'number' } } }
`

async function project(cases: string): Promise<string> {
  const cwd = await tempFolder()
  await writeFile(join(cwd, 'agent.yaml'), AGENT + cases)
  await writeFile(join(cwd, 'answers.yaml'), ANSWERS)
  await writeFile(
    join(cwd, 'verdicts.yaml'),
    `loop: true\nanswers: [{ parts: [{ text: '{"pass": false, "reason": "Not warm enough."}' }] }]\n`,
  )
  await writeFile(join(cwd, 'add.mjs'), MODULE)
  return cwd
}

async function run(cwd: string, args: string[], options: TestIoOptions = {}) {
  const io = createTestIo({ cwd, clock: createSystemClock(), ...options })
  const exitCode = await main(['test', ...args], io)
  return { exitCode, out: io.printed(), err: io.complained() }
}

describe('quarterdeck test', () => {
  test('passes: real model, real tools, arguments in order, and 0 for CI', async () => {
    const cwd = await project(`
  - name: adds
    input: Add
    tools: [{ name: add, arguments: { a: 1, b: 2 } }]
    only_these_tools: true
    contains: It is 3.
  - { name: greets, turns: [Hi, Hi again], regex: '^hello', ignore_case: true }
`)

    const { exitCode, out, err } = await run(cwd, [])

    expect(err).toBe('')
    expect(out.replaceAll(/\d\.\d s/g, 'N.N s')).toBe(`CASE    RESULT   TIME  TOKENS
adds    passed  N.N s      25
greets  passed  N.N s       0

2 of 2 test cases passed (N.N s)
`)
    expect(exitCode).toBe(0)
  })

  test('a case answers approvals, with its own arguments', async () => {
    const cwd = await project(`
  - { name: pays less, input: Pay, approvals: [{ tool: pay, arguments: { amount: 4 } }], contains: Paid. }
  - { name: is refused, input: Pay, approvals: [{ tool: pay, decision: reject }], contains: Paid. }
`)
    const answers = ANSWERS.replace('answers:\n', 'answers:\n  - when: { tool: pay }\n    parts: [{ text: Paid. }]\n')
    await writeFile(join(cwd, 'answers.yaml'), answers)
    await writeFile(
      join(cwd, 'add.mjs'),
      MODULE.replace('pay() { throw', `pay({ amount }) { if (amount === 4) return 'paid'; throw`),
    )

    const { exitCode, out } = await run(cwd, ['--json'])

    expect([exitCode, JSON.parse(out)]).toMatchObject([0, { passed: 2 }])
  })

  test('says what to do if there is no agent', async () => {
    expect(await run(await tempFolder(), [])).toMatchObject({
      exitCode: 2,
      err: expect.stringMatching(
        /^quarterdeck: There is no agent\.yaml in this folder.*\n {2}Create an agent with quarterdeck init/,
      ),
    })
  })

  test('fails with what was expected and found: exit 1', async () => {
    const cwd = await project(`
  - { name: adds, input: Add, tools: [{ name: add, arguments: { a: 2 } }], contains: '4' }
  - { name: pays, input: Pay }
  - { name: is warm, input: Hi, judge: Is warm. }
  - { name: is right, input: Hi, contains: Hello }
`)

    const { exitCode, out } = await run(cwd, ['agent.yaml', '--json', '--junit', 'out/junit.xml'])
    const report: unknown = JSON.parse(out)

    expect(exitCode).toBe(1)
    expect(report).toMatchObject({
      ok: false,
      passed: 1,
      failed: 3,
      cases: [
        {
          name: 'adds',
          findings: [
            { check: 'tools', expected: 'add({"a":2})', found: 'add({"a":1,"b":2})' },
            { check: 'contains', expected: 'an answer with "4"', found: '"It is 3."' },
          ],
        },
        {
          name: 'pays',
          findings: [
            {
              check: 'run',
              expected: 'an answer',
              found: 'the run waits for approval of pay, and the case has no answer for it under approvals',
            },
          ],
        },
        {
          name: 'is warm',
          findings: [{ check: 'judge', expected: 'Is warm.', found: 'Not warm enough. The answer: "Hello there"' }],
        },
        { name: 'is right', outcome: 'passed', findings: [] },
      ],
    })
    expect(await readFile(join(cwd, 'out', 'junit.xml'), 'utf8')).toContain('tests="4" failures="3"')
  })

  test('--filter selects cases, --timeout ends a case that hangs', async () => {
    const cwd = await project('  - { name: Sleeps long, input: Sleep }\n  - { name: greets, input: Hi }\n')

    const { exitCode, out } = await run(cwd, ['--filter', 'sleeps', '--timeout', '200ms'])

    expect(exitCode).toBe(1)
    expect(out).toContain('    expected  an end within 0.2 s\n    found     still at turn 1 of 1\n')
    expect(out).not.toContain('greets')
  })

  test('Ctrl-C stops and shows the results so far: exit 130', async () => {
    const cwd = await project('  - { name: greets, input: Hi }\n  - { name: sleeps, input: Sleep }\n')
    const io = createTestIo({ cwd, clock: createSystemClock(), terminal: true, env: { NO_COLOR: '1' } })

    const exit = main(['test', '--parallel', '1'], io)
    await io.until('1/2  sleeps')
    io.signal('SIGINT')

    expect(await exit).toBe(130)
    expect(io.printed()).toMatch(/greets {2}passed .+\nsleeps {2}stopped .+\n\n1 of 2 test cases passed, 1 stopped/)
  })

  test.each([
    [
      'no test cases',
      'test_cases: []',
      [],
      /^quarterdeck: The agent clerk has no test cases\.\n {2}Add some to the agent file, for example:\n {4}test_cases:/,
    ],
    [
      'a filter that fits none',
      'test_cases: [{ name: greets, input: Hi }]',
      ['--filter', 'bye'],
      /^quarterdeck: No test case has "bye" in its name\.\n {2}There are: greets\n$/,
    ],
    [
      'a wrong number',
      '',
      ['--parallel', '0'],
      /^quarterdeck: --parallel "0": expected a whole number from 1 to 100\.\n$/,
    ],
    [
      'a wrong time',
      '',
      ['--timeout', 'soon'],
      /^quarterdeck: --timeout "soon" is not a time\.\n {2}Write 90s or 5m, for example\.\n$/,
    ],
    [
      'two reports on one stream',
      '',
      ['--json', '--junit', '-'],
      /^quarterdeck: --json and --junit - cannot share standard output\./,
    ],
  ])('cannot run: %s, exit 2', async (_, cases, args, message) => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'agent.yaml'), `name: clerk\nmodel: { provider: demo }\ninstructions: Hi.\n${cases}\n`)

    const { exitCode, out, err } = await run(cwd, args)

    expect([exitCode, out]).toEqual([2, ''])
    expect(err).toMatch(message)
  })
})
