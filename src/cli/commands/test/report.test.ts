// The outputs of `quarterdeck test`: the table, the bar, JUnit and JSON.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { CaseResult } from '../../../evaluation/case-result.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { createTestProgress, jsonReport, junitReport, openTestReport, testTable } from './report.ts'

const result = (given: Partial<CaseResult>): CaseResult => ({
  agent: 'crow',
  name: 'greets',
  outcome: 'passed',
  findings: [],
  durationMs: 1_240,
  tokens: { input: 1_000, output: 234 },
  answer: 'Hello',
  calls: [],
  ...given,
})

const passed = result({})
const failed = result({
  name: 'counts <3>',
  outcome: 'failed',
  findings: [
    { check: 'contains', expected: 'an answer with "3"', found: '"4 & \u0007more"' },
    { check: 'tools', expected: 'add({"a":1})', found: 'no call' },
  ],
  answer: '4 & \u0007more',
  calls: [{ name: 'sub', arguments: null, bySubagent: true }],
  durationMs: 90,
  tokens: { input: 0, output: 0 },
})
const broken = result({
  agent: 'parrot',
  name: 'repeats',
  outcome: 'error',
  findings: [{ check: 'run', expected: 'an answer', found: 'the run failed with model_timeout: It took too long.' }],
})
const stopped = result({ name: 'sings', outcome: 'stopped', durationMs: 0, tokens: { input: 0, output: 0 } })

describe('the results of tests', () => {
  test('as a table, with what was expected and found under it', () => {
    const io = createTestIo()

    expect(testTable([passed, failed, stopped], 2_000, io.stdout, io.env)).toBe(`CASE        RESULT    TIME  TOKENS
greets      passed   1.2 s   1,234
counts <3>  failed   0.1 s       0
sings       stopped  0.0 s       0

crow: counts <3>
  contains
    expected  an answer with "3"
    found     "4 & <U+0007>more"
  tools
    expected  add({"a":1})
    found     no call

1 of 3 test cases passed, 1 failed, 1 stopped (2.0 s)
`)
    expect(testTable([passed, broken], 2_000, io.stdout, io.env)).toContain(
      'AGENT   CASE     RESULT   TIME  TOKENS\n' +
        'crow    greets   passed  1.2 s   1,234\n' +
        'parrot  repeats  error   1.2 s   1,234\n',
    )
  })

  test('each line of what was found on a line of its own', () => {
    const io = createTestIo()
    const lines = result({
      outcome: 'failed',
      findings: [{ check: 'recall@5', expected: 'at least 0.9', found: 'one\ntwo' }],
    })

    expect(testTable([lines], 1, io.stdout, io.env)).toContain(
      '    expected  at least 0.9\n    found     one\n              two\n',
    )
  })

  test('long findings are cut, and colours are for terminals', () => {
    const long = result({ outcome: 'failed', findings: [{ check: 'regex', expected: 'x', found: 'y'.repeat(10_000) }] })
    const terminal = createTestIo({ terminal: true })
    const pipe = createTestIo()

    expect(testTable([long], 1, pipe.stdout, pipe.env).length).toBeLessThan(1_000)
    expect(testTable([long], 1, terminal.stdout, terminal.env)).toContain('\x1b[31mfailed\x1b[39m')
    expect(testTable([long], 1, pipe.stdout, pipe.env)).not.toContain('\x1b')
  })

  test('as JUnit XML, a suite for each agent', () => {
    expect(junitReport([passed, failed, broken, stopped], 2_000)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="quarterdeck" tests="4" failures="1" errors="1" skipped="1" time="2.000">
  <testsuite name="crow" tests="3" failures="1" errors="0" skipped="1" time="1.330">
    <testcase classname="crow" name="greets" time="1.240"/>
    <testcase classname="crow" name="counts &lt;3&gt;" time="0.090">
      <failure message="contains: expected an answer with &quot;3&quot;; tools: expected add({&quot;a&quot;:1})" type="contains">contains: expected an answer with &quot;3&quot;
found &quot;4 &amp; more&quot;

tools: expected add({&quot;a&quot;:1})
found no call</failure>
      <system-out>4 &amp; more</system-out>
    </testcase>
    <testcase classname="crow" name="sings" time="0.000">
      <skipped message="stopped before it finished"/>
    </testcase>
  </testsuite>
  <testsuite name="parrot" tests="1" failures="0" errors="1" skipped="0" time="1.240">
    <testcase classname="parrot" name="repeats" time="1.240">
      <error message="run: expected an answer" type="run">run: expected an answer
found the run failed with model_timeout: It took too long.</error>
      <system-out>Hello</system-out>
    </testcase>
  </testsuite>
</testsuites>
`)
  })

  test('as JSON', () => {
    expect(JSON.parse(jsonReport([passed, failed], 1_330.4))).toEqual({
      ok: false,
      passed: 1,
      failed: 1,
      errors: 0,
      stopped: 0,
      duration_ms: 1330,
      cases: [
        {
          agent: 'crow',
          name: 'greets',
          outcome: 'passed',
          duration_ms: 1240,
          tokens: { input: 1000, output: 234 },
          findings: [],
          answer: 'Hello',
          tool_calls: [],
        },
        {
          agent: 'crow',
          name: 'counts <3>',
          outcome: 'failed',
          duration_ms: 90,
          tokens: { input: 0, output: 0 },
          findings: failed.findings,
          answer: failed.answer,
          tool_calls: [{ name: 'sub', arguments: null, by_subagent: true }],
        },
      ],
    })
  })
})

describe('the progress bar', () => {
  test('is drawn on one line of a terminal and taken off again', () => {
    const io = createTestIo({ terminal: true, env: { NO_COLOR: '1' } })
    const progress = createTestProgress(2, io)

    progress.begin('greets')
    progress.result(failed)
    progress.clear()
    progress.begin('too late')

    const line = '\r\x1b[2K'
    expect(io.complained()).toBe(
      `${line}${'░'.repeat(20)} 0/2  greets${line}${'█'.repeat(10)}${'░'.repeat(10)} 1/2  1 failed  greets${line}`,
    )
  })

  test.each([
    ['a pipe', false, {}],
    ['CI', true, { CI: 'true' }],
    ['a dumb terminal', true, { TERM: 'dumb' }],
  ])('there is none in %s', (_, terminal, env) => {
    const io = createTestIo({ terminal, env })
    const progress = createTestProgress(1, io)

    progress.begin('greets')
    progress.result(passed)
    progress.clear()

    expect(io.complained()).toBe('')
  })
})

describe('a report file', () => {
  test('is made with its folders, and an old one does not outlive the start', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'old.json'), 'old')
    const io = createTestIo({ cwd })

    await openTestReport('old.json', io)
    const report = await openTestReport('reports/new.xml', io)
    await report?.('<new/>')

    expect(await readFile(join(cwd, 'old.json'), 'utf8')).toBe('')
    expect(await readFile(join(cwd, 'reports', 'new.xml'), 'utf8')).toBe('<new/>')
    expect(await openTestReport(undefined, io)).toBeNull()
  })

  test('that cannot be written is a clear mistake', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'file'), '')

    await expect(openTestReport('file/report.xml', createTestIo({ cwd }))).rejects.toMatchObject({
      exitCode: 73,
      message: expect.stringMatching(/^file\/report\.xml cannot be written: /),
    })
  })
})
