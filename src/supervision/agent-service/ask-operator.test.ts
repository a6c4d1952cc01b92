import { expect, test } from 'vitest'
import { configuredOperators } from '../sessions/may-command.ts'
import { agentIn, ann, callOf, eve, openSupervision, root } from '../testing/open-supervision.ts'
import { createAskOperator } from './ask-operator.ts'

function openAsking(options: Parameters<typeof openSupervision>[0] = {}) {
  const opened = openSupervision(options)
  const timeouts = { promptSeconds: 1_800, waitSeconds: 0 }
  return { ...opened, service: createAskOperator({ ...opened.parts, timeouts }) }
}

const agent = agentIn('/srv/here')
const call = (values = {}) => callOf(agent, values)

test('the agent waits until its operator answers, and gets the same answer by id ever after', async () => {
  const { service, prompts, nextWaiting } = openAsking()
  const asked = service.forward_prompt(call(), { prompt_text: 'Shall I go on?' })
  const { id } = await nextWaiting()
  await prompts.decide(ann, id, { decision: 'refine', instruction: 'Only the tests.' })
  const answer = { decision: 'refine', instruction: 'Only the tests.', prompt_id: id, session_id: expect.any(String) }

  expect(await asked).toEqual({ isError: false, answer })
  for (const prompt_id of [id, id.toUpperCase()]) {
    expect(await service.forward_prompt(call(), { prompt_id })).toEqual({ isError: false, answer })
  }
})

test('before the limit of the host it says pending, and the same question attaches to the same record', async () => {
  const { service, prompts, waiting, passTime, nextWaiting } = openAsking()
  const first = service.forward_prompt(call({ limitMs: 50_000 }), { prompt_text: 'Go on?' })
  const { id } = await nextWaiting()
  await passTime(50_000)

  expect((await first).answer).toMatchObject({ status: 'pending', prompt_id: id, retry_with: { prompt_id: id } })
  const again = service.forward_prompt(call(), { prompt_text: 'Go on?' })
  await prompts.decide(ann, id, { decision: 'stop', reason: 'Enough.' })
  expect((await again).answer).toMatchObject({ decision: 'stop', reason: 'Enough.', prompt_id: id })
  expect(await waiting()).toEqual([])
  // It was returned once, so the same words are a new question now.
  const third = service.forward_prompt(call(), { prompt_text: 'Go on?' })
  expect((await nextWaiting()).id).not.toBe(id)
  await prompts.decide(ann, (await nextWaiting()).id, { decision: 'continue' })
  expect((await third).answer).toMatchObject({ decision: 'continue' })
})

test('a caller who leaves decides nothing, and an answer that came meanwhile is kept for the next one', async () => {
  const { service, prompts, nextWaiting, store } = openAsking()
  const gone = new AbortController()
  const first = service.forward_prompt(call({ signal: gone.signal }), { prompt_text: 'Go on?' })
  const { id } = await nextWaiting()
  gone.abort()
  await first
  const left = { status: 'pending', supervised: { leftAt: expect.any(Number) } }
  expect(await store.waits.get(id)).toMatchObject(left)
  await prompts.decide(ann, id, { decision: 'continue' })

  expect((await service.forward_prompt(call(), { prompt_text: 'Go on?' })).answer).toMatchObject({
    decision: 'continue',
    prompt_id: id,
  })
})

test('the first answer wins, the second learns who was first, and a foreign operator may not answer', async () => {
  const { service, prompts, nextWaiting } = openAsking()
  void service.forward_prompt(call(), { prompt_text: 'Go on?' })
  const { id } = await nextWaiting()

  await expect(prompts.decide(eve, id, { decision: 'stop' })).rejects.toMatchObject({ code: 'forbidden' })
  const answers = await Promise.allSettled(
    Array.from({ length: 50 }, (_, i) => prompts.decide(i % 2 ? ann : root, id, { decision: 'continue' })),
  )
  expect(answers.filter(({ status }) => status === 'fulfilled').length).toBe(1)
  await expect(prompts.decide(ann, id, { decision: 'stop' })).rejects.toMatchObject({
    code: 'record_decided',
    message: expect.stringContaining('answered with "continue" by'),
  })
})

test('nobody answers: a continuation goes on three times in a row, the fourth is stop, and a person starts the count again', async () => {
  const { service, prompts, passTime, nextWaiting } = openAsking()
  const unanswered = async (text: string) => {
    const asked = service.forward_prompt(call({ limitMs: 10_000_000 }), { prompt_text: text })
    await nextWaiting()
    await passTime(1_800_000)
    return (await asked).answer
  }
  const decisions = []
  for (const text of ['1', '2', '3', '4']) decisions.push((await unanswered(text)).decision)
  expect(decisions).toEqual(['continue', 'continue', 'continue', 'stop'])

  const answered = service.forward_prompt(call(), { prompt_text: 'a person' })
  await prompts.decide(ann, (await nextWaiting()).id, { decision: 'continue' })
  await answered
  expect((await unanswered('5')).decision).toBe('continue')
})

test.each(['clarification', 'error_recovery', 'resource_warning'] as const)(
  'nobody answers: a question of the type %s is stop, with the reason',
  async (prompt_type) => {
    const { service, passTime, nextWaiting } = openAsking()
    const asked = service.forward_prompt(call({ limitMs: 10_000_000 }), { prompt_text: 'What now?', prompt_type })
    await nextWaiting()
    await passTime(1_800_000)

    expect((await asked).answer).toMatchObject({ decision: 'stop', reason: 'timeout' })
  },
)

test('an agent stands by until it is told what to do, or until its time is over', async () => {
  const { service, prompts, passTime, nextWaiting, audit } = openAsking()
  const first = service.wait_for_instruction(call(), { message: 'Done.' })
  const { id } = await nextWaiting()
  await prompts.resume(ann, id, { instruction: 'Write the docs.' })
  expect((await first).answer).toMatchObject({ status: 'resumed', instruction: 'Write the docs.', wait_id: id })

  const second = service.wait_for_instruction(call({ limitMs: 10_000_000 }), { message: 'Done.', timeout_seconds: 60 })
  const { id: lateId } = await nextWaiting()
  await passTime(60_000)
  expect((await second).answer).toMatchObject({ status: 'timeout', instruction: null })
  expect(
    (await audit()).filter(({ kind }) => kind === 'decision').map(({ by, record, decision }) => [by, record, decision]),
  ).toEqual([
    ['ann', id, 'resumed'],
    ['timeout', lateId, 'timeout'],
  ])
})

test('a session that ends takes its questions with it, and says that they were cancelled', async () => {
  const { service, sessions, nextWaiting } = openAsking()
  const asked = service.forward_prompt(call(), { prompt_text: 'Go on?' })
  const { sessionId } = await nextWaiting()
  await sessions.terminate(ann, sessionId)

  expect((await asked).answer).toMatchObject({ decision: 'stop', reason: 'cancelled' })
})

test('a paused session refuses calls in words for a model, and goes on afterwards', async () => {
  const { service, sessions, prompts, nextWaiting } = openAsking()
  const { id } = await sessions.attach(agent)
  await sessions.pause(ann, id)
  expect(await service.forward_prompt(call(), { prompt_text: 'Hi' })).toMatchObject({
    isError: true,
    answer: {
      status: 'error',
      error_code: 'session_paused',
      error_message: expect.stringContaining('Stop working now'),
    },
  })
  await sessions.resume(ann, id)
  const asked = service.forward_prompt(call(), { prompt_text: 'Hi' })
  await prompts.decide(ann, (await nextWaiting()).id, { decision: 'continue' })
  expect((await asked).isError).toBe(false)
})

test('steering comes with every result until the next call proves that the agent has it', async () => {
  const { service, sessions, prompts, nextWaiting, store } = openAsking()
  const { id: sessionId } = await sessions.attach(agent)
  const { id } = await sessions.steer(ann, sessionId, 'Use tabs.')
  const ask = async (text: string) => {
    const asked = service.forward_prompt(call(), { prompt_text: text })
    await prompts.decide(ann, (await nextWaiting()).id, { decision: 'continue' })
    return (await asked).answer.pending_steering
  }
  const delivered = async () => (await store.supervised.instructions({ sessionId, limit: 9 }))[0]?.deliveredAt

  expect(await ask('one')).toEqual([{ id, text: 'Use tabs.', source: 'ann via ctl', created_at: expect.anything() }])
  expect(await delivered()).toBe(null)
  expect(await ask('two')).toBe(undefined)
  expect(await delivered()).toEqual(expect.any(Number))
})

test.each([
  ['no text', {}, 'prompt_text'],
  ['a blank text', { prompt_text: ' \n' }, 'prompt_text'],
  ['too much text', { prompt_text: 'x'.repeat(10_001) }, '10000'],
  ['an unknown id', { prompt_id: '01900000-0000-7000-8000-000000000000' }, 'There is no prompt'],
])('a prompt with %s is refused, and nothing is asked', async (_what, input, text) => {
  const { service, waiting } = openAsking()
  const { isError, answer } = await service.forward_prompt(call(), input)

  expect([isError, answer.status]).toEqual([true, 'error'])
  expect(answer.error_message).toContain(text)
  expect(await waiting()).toEqual([])
})

test('the log shows the call, ends its run with the question, and shows the answer in the next run', async () => {
  const { service, prompts, nextWaiting, events } = openAsking()
  const asked = service.forward_prompt(call(), { prompt_text: 'Go on?' })
  const { id, sessionId } = await nextWaiting()
  await prompts.decide(ann, id, { decision: 'continue' })
  await asked
  const shown = await events(sessionId)

  expect(shown.map(({ type }) => type)).toEqual([
    'RUN_STARTED',
    'TOOL_CALL_START',
    'TOOL_CALL_ARGS',
    'TOOL_CALL_END',
    'RUN_FINISHED',
    'RUN_STARTED',
    'TOOL_CALL_RESULT',
  ])
  expect(shown[4]).toMatchObject({ outcome: { type: 'interrupt', interrupts: [{ id, message: 'Go on?' }] } })
})

test('the same question twice at the same time is one record', async () => {
  const { service, prompts, waiting, nextWaiting } = openAsking()
  const both = [1, 2].map(() => service.forward_prompt(call(), { prompt_text: 'Go on?' }))
  const { id } = await nextWaiting()
  await prompts.decide(ann, id, { decision: 'continue' })

  const answers = await Promise.all(both)
  expect(answers.map(({ answer }) => answer.prompt_id)).toEqual([id, id])
  expect(await waiting()).toEqual([])
})

test('a session has at most 16 open prompts', async () => {
  const { service, waiting } = openAsking()
  const gone = { signal: AbortSignal.abort() }
  for (let i = 0; i < 16; i += 1) await service.forward_prompt(call(gone), { prompt_text: `Question ${i}` })

  const { answer } = await service.forward_prompt(call(gone), { prompt_text: 'One more' })
  expect(answer).toMatchObject({ status: 'error', error_code: 'limit' })
  expect((await waiting()).length).toBe(16)
})

test('an answer is not given to an agent in another folder', async () => {
  const { service, waiting } = openAsking()
  await service.forward_prompt(call({ signal: AbortSignal.abort() }), { prompt_text: 'Go on?' })
  const [prompt] = await waiting()
  const elsewhere = agentIn('/srv/there', { tokenId: 'another', connectionId: 'another' })

  const { answer } = await service.forward_prompt(callOf(elsewhere), { prompt_id: prompt?.id ?? '' })
  expect(answer).toMatchObject({ status: 'error', error_code: 'request_not_found' })
})

test('people see hidden characters in what an agent asks', async () => {
  const { service, waiting } = openAsking()
  await service.forward_prompt(call({ signal: AbortSignal.abort() }), { prompt_text: 'Go\u202e on\u001b[2J?' })

  expect(await waiting()).toMatchObject([{ promptText: 'Go<U+202E> on<U+001B>[2J?' }])
})

test('whoever the escalation names may answer a prompt after its time, and the trail says so', async () => {
  const person = { console: null, admin: false, local: false }
  const people = ['ann', 'eve', 'root'].map((name) => ({ ...person, name, group: name === 'eve' ? 'night' : null }))
  const operators = configuredOperators(people, [{ afterMs: 60_000, to: ['night'] }])
  const { service, prompts, clock, nextWaiting, audit } = openAsking({ operators })
  const asked = service.forward_prompt(call({ limitMs: 900_000 }), { prompt_text: 'Go on?' })
  const { id } = await nextWaiting()
  await expect(prompts.decide(eve, id, { decision: 'stop' })).rejects.toMatchObject({ code: 'forbidden' })
  await clock.advance(60_000)
  await expect(prompts.decide(root, id, { decision: 'stop' })).rejects.toMatchObject({ code: 'forbidden' })

  expect(await prompts.decide(eve, id, { decision: 'stop' })).toMatchObject({ decidedBy: 'eve' })
  expect((await asked).answer).toMatchObject({ decision: 'stop' })
  expect((await audit()).find(({ kind }) => kind === 'decision')).toMatchObject({ by: 'eve', escalated: true })
})

test('while nobody can be reached the agent is told so, and its question stays', async () => {
  const troubles = ['The channel C1 is archived.', null, 'The token was revoked.']
  const { service, prompts, nextWaiting, passTime, store } = openAsking({ trouble: () => troubles.shift() ?? null })
  const { isError, answer } = await service.forward_prompt(call(), { prompt_text: 'Go on?' })
  const { id } = await nextWaiting()
  expect({ isError, answer }).toMatchObject({
    isError: true,
    answer: { error_code: 'operator_unreachable', id, retry_with: { prompt_id: id } },
  })
  expect(String(answer.error_message)).toContain('The channel C1 is archived.')
  expect(await store.waits.get(id)).toMatchObject({ status: 'pending' })

  const again = service.forward_prompt(call(), { prompt_id: id })
  await passTime(10_000)
  expect((await again).answer).toMatchObject({ error_code: 'operator_unreachable' })

  const third = service.forward_prompt(call(), { prompt_id: id })
  await prompts.decide(ann, id, { decision: 'continue' })
  expect((await third).answer).toMatchObject({ decision: 'continue' })
})

test('a reason has its limit on every way, also on one without a schema', async () => {
  const { service, prompts, approvals, sessions, nextWaiting } = openAsking()
  const asked = service.forward_prompt(call(), { prompt_text: 'Go on?' })
  const { id, sessionId } = await nextWaiting()
  const long = { code: 'invalid_request', message: 'Send a reason of at most 2000 characters.' }
  const reason = 'x'.repeat(2_001)

  await expect(prompts.decide(ann, id, { decision: 'stop', reason })).rejects.toMatchObject(long)
  await expect(approvals.decide(ann, id, { decision: 'reject', reason })).rejects.toMatchObject(long)
  await expect(sessions.terminate(ann, sessionId, reason)).rejects.toMatchObject(long)
  await prompts.decide(ann, id, { decision: 'stop', reason: '\u{1f44b}'.repeat(2_000) })
  expect((await asked).answer).toMatchObject({ decision: 'stop' })
})
