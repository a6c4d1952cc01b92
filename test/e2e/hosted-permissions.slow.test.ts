// What a hosted agent asks before it acts, and what people answer.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HostedApp, openHostedApp } from './hosted-app.ts'

let house: HostedApp
beforeAll(async () => {
  house = await openHostedApp({ files: { 'a.txt': 'old\n' } })
})
afterAll(() => house?.[Symbol.asyncDispose]())

describe('a permission', () => {
  test('is an approval of what will really happen, and the yes reaches the agent once', async () => {
    const waiting = await house.say('once', 'ask-run touch made.txt; echo ran', 'say after')
    expect(waiting.status).toBe('waiting')
    const approval = await house.asked('once')
    expect(approval).toMatchObject({ tool: 'exec', arguments: { command: 'touch made.txt; echo ran' } })

    const { approval_id, digest } = approval
    await expect(house.decide(approval_id, { decision: 'approve', digest: '0'.repeat(64) })).rejects.toThrow(/409/)
    await house.decide(approval_id, { decision: 'approve', digest })
    await expect(house.decide(approval_id, { decision: 'reject', digest })).rejects.toThrow(/409/)
    const changes = await house.rested('once')
    expect(changes.status).toBe('waiting')
    expect(await house.asked('once')).toMatchObject({ kind: 'changes', title: 'Create made.txt +0 −0' })
    expect(house.read('made.txt')).toBe(null)

    const ended = await house.answer('once', { decision: 'approve' })
    expect(ended.status).toBe('completed')
    expect(house.read('made.txt')).toBe('')
    expect(await house.texts('once')).toEqual(['after'])
    expect(await house.request('GET', `/approvals/${approval_id}`)).toMatchObject({ status: 'consumed' })
  })

  test('that is refused with a reason is told to the agent in words', async () => {
    await house.say('no', 'ask-run touch never.txt', 'say after')
    const ended = await house.answer('no', { decision: 'reject', reason: 'say not-here' })
    expect(ended.status).toBe('completed')
    expect(house.read('never.txt')).toBe(null)
    const texts = (await house.texts('no')).join('\n')
    expect(texts).toContain('after')
  })

  test('that is refused with a reason is told to the agent also where it asked something else meanwhile', async () => {
    await house.say('first', 'ask-run touch never.txt', 'ask-empty')
    await house.answer('first', { decision: 'reject', reason: 'Not here.' })
    const ended = await house.answer('first', { decision: 'approve' })
    expect(ended.status).toBe('completed')
    const told = 'You said: Your operator refused your call of exec: Run touch never.txt. Their reason: Not here.'
    expect(await house.texts('first')).toEqual([told])
    await house.say('first', 'say next')
    expect(await house.texts('first')).toEqual([told, 'next'])
  })

  test('without input is of high risk, and nothing about it is remembered', async () => {
    await house.say('empty', 'ask-empty')
    const approval = await house.asked('empty')
    expect(approval.risk).toBe('high')
    await expect(
      house.decide(approval.approval_id, { decision: 'approve', digest: approval.digest, remember: 'session' }),
    ).rejects.toThrow(/4\d\d/)
    await house.answer('empty', { decision: 'approve' })
    await house.say('empty', 'ask-empty')
    expect((await house.asked('empty')).risk).toBe('high')
    await house.answer('empty', { decision: 'reject' })
  })

  test('without options is refused, and the agent goes on', async () => {
    const run = await house.say('bare', 'say before', 'ask-without-options', 'say after')
    // This agent takes an answer that is none of its options as the end of its prompt.
    expect([run.status, await house.texts('bare')]).toEqual(['completed', ['before']])
  })

  test('for a file of the private copy asks nobody, because the changes are asked about at the end', async () => {
    await house.say('late', 'late-update b.txt text')
    expect(await house.asked('late')).toMatchObject({ kind: 'changes', title: 'Create b.txt +1 −0' })
    await house.answer('late', { decision: 'reject' })
    expect(house.read('b.txt')).toBe(null)
  })

  test('is not answered by a new message', async () => {
    await house.say('instead', 'ask-run touch never.txt', 'say after')
    await expect(house.send('instead', 'say now this')).rejects.toThrow(/approval_pending/)
    await house.answer('instead', { decision: 'reject' })
  })

  test('cannot be answered by a user', async () => {
    await house.say('user', 'ask-run touch never.txt')
    const { approval_id, digest } = await house.asked('user')
    const answer = await fetch(`${house.url}/approvals/${approval_id}`, {
      method: 'POST',
      headers: { ...house.asOwner, 'Content-Type': 'application/json' },
      body: JSON.stringify({ decision: 'approve', digest }),
    })
    expect(answer.status).toBe(403)
    await house.answer('user', { decision: 'reject' })
  })
})

test('a question of the agent is answered by a person', async () => {
  await house.say('question', 'elicit Which colour?|red|blue')
  const { approval_id, digest, question } = await house.asked('question')
  expect(question).toMatchObject({ message: expect.stringContaining('Which colour?') })
  await house.decide(approval_id, { decision: 'respond', digest, result: { answer: 'blue' } })
  await house.rested('question')
  expect(await house.lastText('question')).toBe('accept: {"answer":"blue"}')
})

test('several permissions at once are asked one beside the other', async () => {
  await house.say('both', 'meanwhile ask-run touch one.txt', 'meanwhile ask-run touch two.txt', 'say asked')
  const { run_id } = await house.rested('both')
  const asked = (await house.pending()).filter((one) => one.run_id === run_id)
  expect(asked.map((one) => JSON.stringify(one.arguments)).sort()).toEqual([
    '{"command":"touch one.txt"}',
    '{"command":"touch two.txt"}',
  ])
  for (const { approval_id, digest } of asked) await house.decide(approval_id, { decision: 'reject', digest })
  await house.rested('both')
  expect(await house.texts('both')).toEqual(['asked'])
})
