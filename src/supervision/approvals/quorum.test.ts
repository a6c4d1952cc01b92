import { expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import { sameForEveryRisk } from '../../domain/supervision/quorum.ts'
import { openEngine, outline, type TestEngineOptions, testAgent, testTool } from '../../engine/testing/open-engine.ts'
import { configuredOperators } from '../sessions/may-command.ts'

const person = { console: null, group: null, admin: false, local: false }
const operators = configuredOperators([
  { ...person, name: 'ada', console: 'ada@work', local: true },
  { ...person, name: 'ben' },
  { ...person, name: 'cem' },
])
const by = (user: string): Caller => ({ user, role: 'operator' })
const yes: Decision = { decision: 'approve' }

function open(options: TestEngineOptions = {}) {
  const delivered: unknown[] = []
  const send = testTool({
    name: 'send',
    risk: 'high',
    effect: 'once',
    parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    call: async ({ arguments: args }) => {
      delivered.push(args.to)
      return { content: `Sent to ${String(args.to)}.`, isError: false }
    },
  })
  const server = openEngine({
    operators,
    tools: [send],
    answers: [{ parts: [{ tool_call: { name: 'send', arguments: { to: 'bob' } } }] }, { parts: [{ text: 'Done.' }] }],
    agent: {
      approval: { ...testAgent.approval, default: { ask: 'risk', atLeast: 'high' }, quorum: sameForEveryRisk(2) },
    },
    ...options,
  })
  return Object.assign(server, { delivered })
}

async function ask(server: ReturnType<typeof open>) {
  const accepted = await server.start('go')
  await server.events(accepted)
  const [approval] = await server.approvals.list({ by: by('ada'), status: 'pending', limit: 10 })
  if (approval === undefined) throw new Error('nothing waits')
  return { accepted, approval }
}

const refusal = (work: Promise<unknown>): Promise<{ code: string; message: string; details: object }> =>
  work.then(
    () => {
      throw new Error('it was not refused')
    },
    (error: unknown) => {
      if (!(error instanceof ServerError)) throw error
      return { code: error.code, message: error.message, details: error.details }
    },
  )

async function decisions({ store }: ReturnType<typeof open>): Promise<string[]> {
  const trail = (await store.audit.entries(0, 100)).map(({ text }) => JSON.parse(text))
  return trail.filter(({ kind }) => kind === 'decision').map((one) => `${one.by} ${one.details.decision}`)
}

test('a call that needs two yeses waits after the first and runs once after the second', async () => {
  const server = open()
  const { accepted, approval } = await ask(server)
  expect(approval).toMatchObject({ status: 'pending', quorum: 2, answerableBy: 'operator' })

  const first = await server.approvals.say(by('ada'), approval.id, { ...yes, digest: approval.digest })
  expect(first).toEqual({
    approval: { ...approval, decisions: [{ by: 'ada', via: 'http', at: expect.any(Number) }] },
    run: null,
  })
  expect((await server.engine.runs.get('local_user', accepted.run.id)).status).toBe('waiting')
  expect(server.delivered).toEqual([])

  const { run } = await server.approvals.decide(by('ben'), approval.id, yes)
  expect(outline(await server.events({ ...accepted, run }))[1]).toBe('TOOL_CALL_RESULT Sent to bob.')
  expect(server.delivered).toEqual(['bob'])
  expect(await server.approvals.get(by('ada'), approval.id)).toMatchObject({
    status: 'consumed',
    decidedBy: 'ben',
    decisions: [{ by: 'ada' }, { by: 'ben' }],
  })
  expect(await decisions(server)).toEqual(['ada yes', 'ben approved'])
  await server.close()
})

test('a person counts once, under whichever name they come, also when both yeses come at once', async () => {
  const server = open()
  const { approval } = await ask(server)
  const both = await Promise.allSettled([
    server.approvals.say(by('ada'), approval.id, yes),
    server.approvals.say(by('ada@work'), approval.id, yes),
  ])

  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  for (const name of ['ada', 'ada@work', 'operator', 'local_user']) {
    expect(await refusal(server.approvals.say(by(name), approval.id, yes))).toEqual({
      code: 'conflict',
      message: 'You have said yes already. 1 of 2 people have; somebody else has to.',
      details: { approval_id: approval.id, yeses: 1, needed: 2 },
    })
  }
  expect(server.delivered).toEqual([])
  await server.close()
})

test('two people who say yes at the same time make one run', async () => {
  const server = open()
  const { accepted, approval } = await ask(server)

  const both = await Promise.all(['ada', 'ben'].map((name) => server.approvals.say(by(name), approval.id, yes)))

  const runs = both.flatMap(({ run }) => run ?? [])
  expect(runs.length).toBe(1)
  for (const run of runs) await server.events({ ...accepted, run })
  expect(server.delivered).toEqual(['bob'])
  await server.close()
})

test('the first no closes it, and a later yes hears who decided', async () => {
  const server = open()
  const { accepted, approval } = await ask(server)
  await server.approvals.say(by('ada'), approval.id, yes)

  const { run } = await server.approvals.decide(by('ada'), approval.id, {
    decision: 'reject',
    reason: 'On second thought.',
  })
  await server.events({ ...accepted, run })

  expect(await refusal(server.approvals.say(by('ben'), approval.id, yes))).toMatchObject({
    code: 'approval_decided',
    message: expect.stringContaining('already rejected by ada'),
  })
  expect(await decisions(server)).toEqual(['ada yes', 'ada rejected'])
  expect(server.delivered).toEqual([])
  await server.close()
})

test('a result in the place of the tool needs one person, because nothing runs', async () => {
  const server = open()
  const { accepted, approval } = await ask(server)
  const { run } = await server.approvals.decide(by('ben'), approval.id, { decision: 'respond', result: 'Bob is away.' })

  expect(outline(await server.events({ ...accepted, run }))[1]).toContain('Bob is away.')
  expect(server.delivered).toEqual([])
  await server.close()
})

test('only people whom the settings name count, and a yes of one among several cannot be remembered', async () => {
  const server = open()
  const { approval } = await ask(server)

  expect(await refusal(server.approvals.say(by('eve'), approval.id, yes))).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('"eve" is none of them.'),
  })
  const remember = { scope: 'always' } as const
  expect(await refusal(server.approvals.say(by('ben'), approval.id, { ...yes, remember }))).toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('cannot be remembered'),
  })
  expect((await server.approvals.get(by('ada'), approval.id)).decisions).toBe(undefined)
  await server.close()
})

test('edited arguments are asked about anew, and nobody has said yes to them yet', async () => {
  const server = open()
  const { accepted, approval } = await ask(server)
  await server.approvals.say(by('ada'), approval.id, yes)

  const told = await refusal(server.approvals.say(by('ben'), approval.id, { ...yes, arguments: { to: 'eve' } }))
  const [next] = await server.approvals.list({ by: by('ada'), status: 'pending', limit: 10 })
  expect(told).toEqual({
    code: 'approval_changed',
    message: `Your arguments are kept, and nothing is decided yet: everybody has to see them first. They are asked about as ${next?.id}. Look at that one, then approve it.`,
    details: { approval_id: next?.id, approval_status: 'pending', digest: next?.digest, replaces: approval.id },
  })
  expect(next).toMatchObject({
    quorum: 2,
    arguments: '{"to":"eve"}',
    editedArguments: '{"to":"eve"}',
    description: 'to: eve',
  })
  expect(next?.decisions).toBe(undefined)
  expect(await refusal(server.approvals.say(by('cem'), approval.id, yes))).toMatchObject({
    code: 'approval_changed',
    message: `ben edited the arguments of this call. It is asked again as ${next?.id}. Look at that one, then decide.`,
  })

  const id = next?.id ?? ''
  await server.approvals.say(by('ben'), id, { ...yes, arguments: { to: 'eve' } })
  const { run } = await server.approvals.decide(by('ada'), id, yes)
  expect(outline(await server.events({ ...accepted, run }))[1]).toContain('A person changed the arguments of this call')
  expect(server.delivered).toEqual(['eve'])
  expect(await decisions(server)).toEqual(['ada yes', 'ben edited', 'ben yes', 'ada approved'])
  await server.close()
})

test('a yes after its time is told so, whoever has said yes before', async () => {
  const server = open({
    agent: {
      approval: {
        ...testAgent.approval,
        default: { ask: 'risk', atLeast: 'high' },
        expiresSeconds: 0,
        quorum: sameForEveryRisk(2),
      },
    },
  })
  const { approval } = await ask(server)
  const late = { ...yes, arguments: { to: 'eve' } }
  expect(await refusal(server.approvals.say(by('ada'), approval.id, late))).toMatchObject({ code: 'approval_expired' })
  expect(server.delivered).toEqual([])
  await server.close()
})

test('a quorum may be for critical calls only', async () => {
  const quorum = { low: 1, high: 1, critical: 3 }
  const server = open({
    agent: { approval: { ...testAgent.approval, default: { ask: 'risk', atLeast: 'high' }, quorum } },
    answers: [
      { parts: [{ tool_call: { name: 'send', arguments: { to: 'bob\u202e' } } }] },
      { parts: [{ tool_call: { name: 'send', arguments: { to: 'bob' } } }] },
      { parts: [{ text: 'Done.' }] },
    ],
  })
  const { accepted, approval } = await ask(server)
  expect(approval).toMatchObject({ risk: 'critical', quorum: 3 })
  const { run } = await server.approvals.decide(by('ada'), approval.id, { decision: 'reject' })
  await server.events({ ...accepted, run })

  const [high] = await server.approvals.list({ by: by('ada'), status: 'pending', limit: 10 })
  expect([high?.risk, high?.quorum]).toEqual(['high', undefined])
  const { approval: decided } = await server.approvals.decide(by('ada'), high?.id ?? '', yes)
  expect(decided.status satisfies Approval['status']).toBe('approved')
  await server.close()
})

test('one person cannot edit a call into one that needs more people', async () => {
  const quorum = { low: 1, high: 1, critical: 2 }
  const server = open({
    agent: { approval: { ...testAgent.approval, default: { ask: 'risk', atLeast: 'high' }, quorum } },
  })
  const { accepted, approval } = await ask(server)
  expect([approval.risk, approval.quorum]).toEqual(['high', undefined])

  const edited = { ...yes, arguments: { to: 'bob\u202e' } }
  const { run } = await server.approvals.decide(by('ada'), approval.id, edited)
  await server.events({ ...accepted, run })

  const [next] = await server.approvals.list({ by: by('ada'), status: 'pending', limit: 10 })
  expect(next).toMatchObject({ risk: 'critical', quorum: 2, editedArguments: '{"to":"bob\u202e"}' })
  expect(server.delivered).toEqual([])
  await server.approvals.say(by('ada'), next?.id ?? '', yes)
  const last = await server.approvals.decide(by('ben'), next?.id ?? '', yes)
  await server.events({ ...accepted, run: last.run })
  expect(server.delivered).toEqual(['bob\u202e'])
  await server.close()
})

test('the yes of a request shows what still waits, and the last one goes on with the call', async () => {
  const server = open()
  const { accepted, approval } = await ask(server)
  const resume = (user: string) =>
    server.start('', {
      session: { existing: accepted.session },
      input: { messages: [], instructions: [], context: [], clientTools: [] },
      decisions: { by: by(user), answers: [{ waitId: approval.id, decision: 'approve' }] },
    })

  const first = await resume('ada')
  expect([first.existing, first.run.id, first.run.status]).toEqual([true, accepted.run.id, 'waiting'])
  expect(await refusal(resume('ada'))).toMatchObject({ code: 'conflict' })
  const last = await resume('ben')
  await server.events(last)
  expect(server.delivered).toEqual(['bob'])
  await server.close()
})
