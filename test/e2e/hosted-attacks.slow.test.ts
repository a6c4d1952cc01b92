// What a hostile program of a coding agent tries: to have more done than was shown, to hang whoever waits for it, to fill what is kept.

import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { until } from '../crash/support/until.ts'
import { hasSandbox, openHostedApp } from './hosted-app.ts'

const commandLines = (): string => execFileSync('ps', ['ax', '-ww', '-o', 'args'], { encoding: 'utf8' })

test('the variables of a command are part of what a person approves', async () => {
  await using house = await openHostedApp({ host: { writes: 'client' } })
  await house.send('variables', "client-run-env LD_PRELOAD=/tmp/it's.so printenv PATH")
  const { arguments: shown, title, risk } = await house.asked('variables')
  const command = String.raw`LD_PRELOAD='/tmp/it'\''s.so' printenv PATH`
  expect([shown, title, risk]).toEqual([
    { command, cwd: house.workspace },
    expect.stringContaining('LD_PRELOAD='),
    expect.stringMatching(/medium|high|critical/),
  ])
})

test('a variable keeps a harmless command from running unasked', async () => {
  await using house = await openHostedApp({ host: { writes: 'client' } })
  expect((await house.say('harmless', 'client-run sleep 0')).status).toBe('completed')
  await house.send('harmless', 'client-run-env LD_PRELOAD=/tmp/evil.so sleep 0')
  expect(await house.asked('harmless')).toMatchObject({ title: expect.stringContaining('LD_PRELOAD=') })
})

test('a command that the server runs ends with the prompt that is stopped', async () => {
  await using house = await openHostedApp({ host: { writes: 'client' } })
  const id = await house.send('left', ['client-leave sleep 4242', 'say begun', 'hang'])
  await house.heard('left', 'begun')
  expect(commandLines()).toContain('sleep 4242')
  await house.request('POST', `/runs/${id}/cancel`)
  await house.rested('left')
  await until('the command is gone', async () => !commandLines().includes('sleep 4242'))
})

test('a program cannot ask without end', async () => {
  await using house = await openHostedApp()
  expect((await house.say('many', 'ask-many 300')).status).toBe('waiting')
  const { pending } = await house.request('GET', '/sessions/many')
  expect(pending).toBeGreaterThan(0)
  expect(pending).toBeLessThanOrEqual(100)
})

test('plans count as what is written', async () => {
  await using house = await openHostedApp()
  const run = await house.say('plans', 'plans 230 100000')
  expect(run).toMatchObject({ status: 'failed', error: { code: 'budget_exceeded' } })
})

test('a yes to a call that says nothing does not count for the next one, after the program has died', async () => {
  await using house = await openHostedApp()
  await house.send('empty', ['meanwhile ask-empty', 'sleep 1000', 'die Bye.'])
  const first = await house.asked('empty')
  await until('the program is gone', async () => !commandLines().includes(house.workspace))
  await house.answer('empty', { decision: 'approve' })
  expect((await house.asked('empty')).approval_id).not.toBe(first.approval_id)
})

test('a program that never takes a mode does not keep the run from being stopped', async () => {
  await using house = await openHostedApp()
  await house.say('choices', 'ignore-choices')
  const body = { message: 'say never', host: { mode: 'code' } }
  const { run_id } = await house.request('POST', '/sessions/choices/messages', body)
  await until('it runs', async () => (await house.request('GET', `/runs/${run_id}`)).status === 'running')
  await house.request('POST', `/runs/${run_id}/cancel`)
  expect((await house.ended(run_id, 30_000)).status).toBe('cancelled')
})

test('a program that reads nothing any more is ended with its run', async () => {
  await using house = await openHostedApp()
  const id = await house.send('freeze', 'ask-and-freeze 3000')
  await house.heard('freeze', 'frozen')
  await house.request('POST', `/runs/${id}/cancel`)
  expect((await house.ended(id, 40_000)).status).toBe('cancelled')
  expect((await house.say('freeze', 'say back')).status).toBe('completed')
})

test('a secret that the program was given is not in its errors', async () => {
  process.env.ATTACK_SECRET = 'correct-horse-battery'
  try {
    await using house = await openHostedApp({ host: { env: ['ATTACK_SECRET'] } })
    const run = await house.say('secret', 'fail Refused: correct-horse-battery.')
    expect(run.error?.message).toContain('Refused: [masked].')
  } finally {
    delete process.env.ATTACK_SECRET
  }
})

test('a mode in which nobody is asked cannot be chosen as an option either', async () => {
  await using house = await openHostedApp({ host: { name: 'codex' }, args: ['--offers', 'resume,close,config'] })
  const body = { message: 'say never', host: { config: { mode: 'agent-full-access' } } }
  const { run_id } = await house.request('POST', '/sessions/bold/messages', body)
  expect((await house.ended(run_id)).error).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('agent-full-access'),
  })
})

test('a question about a call is about what it says itself, whatever is told of the call next', async () => {
  await using house = await openHostedApp()
  await house.send('twice', 'ask-twice git push --force; sleep 0')
  expect(await house.asked('twice')).toMatchObject({ arguments: { command: 'git push --force' } })
  await house.answer('twice', { decision: 'reject' })
  expect((await house.texts('twice')).join('')).toContain('git push --force: no.')
})

test('each file that was approved after the program had died is written, and the prompt goes on', async () => {
  await using house = await openHostedApp({ host: { writes: 'client' } })
  const lines = ['meanwhile client-write a.txt A', 'meanwhile client-write b.txt B', 'meanwhile client-run touch c.txt']
  await house.send('writes', [...lines, 'sleep 1000', 'die Bye.'])
  await house.rested('writes')
  const asked = await house.pending()
  expect(asked.length).toBe(3)
  await until('the program is gone', async () => !commandLines().includes(house.workspace))
  for (const { approval_id, digest } of asked) await house.decide(approval_id, { digest, decision: 'approve' })
  // The same script dies again.
  expect((await house.rested('writes')).error?.message).toContain('Bye.')
  expect([house.read('a.txt'), house.read('b.txt'), house.read('c.txt')]).toEqual(['A', 'B', ''])
})

test('a question that nobody can read is not asked', async () => {
  await using house = await openHostedApp()
  const run = await house.say('long', 'ask-long 120000')
  expect([run.status, run.error?.message]).toEqual(['failed', expect.stringContaining('100000 characters')])
})

test('a command that a person has allowed writes in the workspace, and the program itself does not', async () => {
  await using house = await openHostedApp({ host: { writes: 'client' } })
  await house.send('touch', ['run touch d.txt', 'client-run touch c.txt'])
  await house.answer('touch', { decision: 'approve' })
  expect([house.read('c.txt'), house.read('d.txt')]).toEqual(['', hasSandbox ? null : ''])
})
