// A coding agent's program that misbehaves: each time a clear end, nothing written, and the rest of the server unharmed.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../crash/support/until.ts'
import { type HostedApp, hasSandbox, openHostedApp } from './hosted-app.ts'

if (!hasSandbox)
  process.stderr.write('Skipped: what only a sandbox forbids. Install bubblewrap (apt install bubblewrap).\n')

let house: HostedApp
beforeAll(async () => {
  house = await openHostedApp({ files: { 'a.txt': 'old\n' } })
})
afterAll(() => house?.[Symbol.asyncDispose]())

/** The session can be talked to afterwards. */
async function goesOn(session: string): Promise<void> {
  expect((await house.say(session, 'say still here')).status).toBe('completed')
  expect(await house.lastText(session)).toBe('still here')
}

describe('a program that', () => {
  test('dies is a named end with its last words, and the next message starts it again', async () => {
    const run = await house.say('dies', 'say before', 'die Out of luck.')
    expect(run).toMatchObject({
      status: 'failed',
      error: { code: 'host_failed', message: expect.stringMatching(/ended.*Out of luck\./s) },
    })
    await goesOn('dies')
  })

  test('answers a prompt with an error is a named end, and lives', async () => {
    const run = await house.say('errs', 'fail No more quota.')
    expect(run).toMatchObject({
      status: 'failed',
      error: { code: 'host_failed', message: expect.stringContaining('No more quota.') },
    })
    await goesOn('errs')
  })

  test.for([
    ['refusal', 'failed', 'model_refused'],
    ['max_turn_requests', 'failed', 'host_limit'],
    ['max_tokens', 'completed', undefined],
    ['magic', 'failed', 'host_failed'],
  ] as const)('stops with %s', async ([reason, status, code]) => {
    const run = await house.say(`stops ${reason}`.replaceAll(/[ _]/g, '-'), `stop ${reason}`)
    expect([run.status, run.error?.code]).toEqual([status, code])
  })

  test('sends a line that is no JSON goes on', async () => {
    const run = await house.say('broken', 'broken-json', 'say after')
    expect(run.status).toMatch(/completed|failed/)
    expect(run.error?.code).toBe(run.status === 'failed' ? 'host_failed' : undefined)
    await goesOn('broken')
  })

  test('calls what is not in the protocol is told so, and goes on', async () => {
    const run = await house.say('unknown', 'unknown-method', 'say after')
    expect([run.status, await house.lastText('unknown')]).toEqual([
      'completed',
      expect.stringMatching(/-32601.*after/s),
    ])
  })

  test('speaks of a session that is not ours is not heard', async () => {
    await house.say('foreign', 'foreign-update', 'say after')
    expect(await house.texts('foreign')).toEqual(['after'])
  })

  test('sends control characters is heard', async () => {
    await house.say('controls', 'control-characters')
    expect(await house.lastText('controls')).toBe(
      'red \u001b[31m, back \b, zero \0, bell \u0007, turned \u202e, hidden \u200b.',
    )
  })

  test('writes 20 MB into its answer ends by the limit on answers', async () => {
    const run = await house.say('floods', 'flood 25000000')
    expect(run).toMatchObject({ status: 'failed', error: { code: 'budget_exceeded' } })
    await goesOn('floods')
  })

  test('tells more and more of one call is ended', async () => {
    const run = await house.say('endless', 'endless-call 40')
    expect(run).toMatchObject({
      status: 'failed',
      error: { code: 'host_failed', message: expect.stringContaining('32 MB') },
    })
    await goesOn('endless')
  })

  test('sends one line of 20 MB is ended', async () => {
    const run = await house.say('line', 'flood-line 20000000')
    expect(run).toMatchObject({
      status: 'failed',
      error: { code: 'host_failed', message: expect.stringContaining('16 MB') },
    })
    await goesOn('line')
  })

  test('floods its log keeps working', async () => {
    const run = await house.say('log', 'flood-errors 50000000', 'say after')
    expect([run.status, await house.lastText('log')]).toEqual(['completed', 'after'])
  })

  test('hangs is stopped with its run, and goes on with the next message', async () => {
    const id = await house.send('hangs', 'say begun\nhang')
    await house.heard('hangs', 'begun')
    await house.request('POST', `/runs/${id}/cancel`)
    expect((await house.rested('hangs')).status).toBe('cancelled')
    await goesOn('hangs')
  })

  test('hangs and hears nothing is killed', async () => {
    const id = await house.send('deaf', 'say begun\nhang-ignoring-cancel')
    await house.heard('deaf', 'begun')
    await house.request('POST', `/runs/${id}/cancel`)
    expect((await house.rested('deaf')).status).toBe('cancelled')
    await goesOn('deaf')
  })
})

describe('a program cannot', () => {
  test('write outside its copy', { skip: !hasSandbox }, async () => {
    const outside = join(mkdtempSync(join(tmpdir(), 'quarterdeck-outside-')), 'x.txt')
    await house.say('outside', `write ${outside} text`, `write /etc/quarterdeck-test text`, `write ../x.txt text`)
    expect(existsSync(outside)).toBe(false)
    expect(existsSync('/etc/quarterdeck-test')).toBe(false)
    expect(await house.pending()).toEqual([])
    expect(await house.lastText('outside')).toMatch(/EROFS|EACCES|ENOENT|EPERM/)
  })

  test('write into the workspace before somebody says so', async () => {
    await house.say('unasked', 'write a.txt new', 'run echo more > more.txt')
    expect([house.read('a.txt'), house.read('more.txt')]).toEqual(['old\n', null])
    const approval = await house.asked('unasked')
    expect(approval.title).toMatch(/^Write 2 files to /)
    await house.answer('unasked', {
      decision: 'approve',
      arguments: { leave: [], discard: ['more.txt'], edit: { 'a.txt': 'edited\n' } },
    })
    expect([house.read('a.txt'), house.read('more.txt')]).toEqual(['edited\n', null])
    await house.say('unasked', 'cat a.txt', 'cat more.txt')
    expect(await house.lastText('unasked')).toMatch(/edited\n.*ENOENT/s)
  })

  test('leave a process behind', { skip: !hasSandbox }, async () => {
    await house.say('orphan', 'leave exec sleep 4321')
    await house.request('DELETE', '/sessions/orphan')
    const running = () => execFileSync('ps', ['-eo', 'args']).toString().split('\n').includes('sleep 4321')
    await until('the process is gone', () => !running(), 20_000)
  })
})
