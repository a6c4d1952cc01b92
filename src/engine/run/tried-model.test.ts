import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import { scriptedModel } from '../../models/testing/scripted-model.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import { openEngine, outline, scripted, testAgent, testTool, userInput } from '../testing/open-engine.ts'

const other = (answers: Parameters<typeof scriptedModel>[0]['answers']) =>
  scriptedModel({ name: 'other', answers, loop: true })
const eve = { user: 'eve', role: 'operator', via: 'http' } as const
const usage = { usage: { input: 5, output: 1 } }
const trying = (text: string) => ({ input: { ...userInput(crypto.randomUUID(), text), model: 'scripted/other' } })

test('a run tries a model with the tools and the rules of its agent, also after a person’s yes, and counts at that model', async () => {
  const lines: LogLine[] = []
  const called: unknown[] = []
  const act = testTool({
    ...{ name: 'act', effect: 'once', approval: { ask: 'always' } },
    call: async () => ({ content: `done ${called.push(1)}`, isError: false }),
  })
  const server = openEngine({
    tried: [
      other([{ parts: [{ tool_call: { name: 'act', arguments: {} } }, usage] }, { parts: [{ text: 'Mine.' }, usage] }]),
    ],
    tools: [act],
    logger: recordingLogger(lines),
  })
  const first = await server.start('q', trying('q'))
  expect(outline(await server.events(first)).at(-1)).toContain('interrupt')
  expect(called).toEqual([])
  const [approval] = await server.approvals.list({ by: eve, status: 'pending', limit: 5 })
  const { run } = await server.approvals.decide(
    ...([eve, approval?.id ?? '', { decision: 'approve', digest: approval?.digest ?? '' }] as const),
  )
  const seen = await server.events({ ...first, run })
  expect(seen[0]).toMatchObject({ metadata: { quarterdeck: { triedModel: 'scripted/other' } } })
  expect(outline(seen)).toContain('TEXT_MESSAGE_CONTENT Mine.')
  expect(seen.at(-1)).toMatchObject({ usage: [{ provider: 'scripted', model: 'other', inputTokens: 5 }] })
  const today = Math.floor(Date.now() / 86_400_000)
  expect(await server.store.usage.totals({ from: today - 1, to: today })).toMatchObject([{ model: 'other', runs: 2 }])
  expect(lines.filter(({ message }) => message === 'run').map(({ fields }) => fields.tried_model)).toEqual([
    ...['scripted/other', 'scripted/other'],
  ])
  // The next message is not meant.
  const next = await server.start('again', { session: { existing: first.session } })
  expect((await server.events(next))[0]).not.toHaveProperty('metadata')
  await server.close()
})

test('after kill -9 a run goes on with the model that it tries, or ends clearly if the settings name it no more', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const open = (name: string, tried: Parameters<typeof openEngine>[0]) =>
    openEngine({ path: join(folder, name, 'test.db'), ...tried })
  const before = open('first', { tried: [other([{ parts: [{ text: 'Half' }, { hang: true }] }])] })
  const accepted = await before.start('q', trying('q'))
  const target = { sessionId: accepted.session.id, runId: accepted.run.id, after: 0 }
  for await (const batch of before.engine.runs.follow(target, new AbortController().signal)) {
    if (batch.some(({ data }) => data.includes('Half'))) break
  }
  for (const name of ['second', 'third']) cpSync(join(folder, 'first'), join(folder, name), { recursive: true })

  const same = open('second', { tried: [other([{ parts: [{ text: 'Whole.' }] }])] })
  await same.engine.recover()
  expect(outline(await same.events(accepted))).toContain('TEXT_MESSAGE_CONTENT Whole.')

  const changed = open('third', {})
  await changed.engine.recover()
  expect((await changed.events(accepted)).at(-1)).toMatchObject({
    type: 'RUN_ERROR',
    code: 'model_not_found',
    message: expect.stringContaining('try_models'),
  })
  await same.close()
  await changed.close()
})

test('the agent that was handed the conversation tries the model too', async () => {
  const { call: _call, ...rules } = testTool({ name: 'ask_tutor', call: async () => ({ content: '', isError: false }) })
  const model = other([{ parts: [{ text: 'Tried.' }, usage] }])
  const tried = { tried: new Map([['scripted/other', model]]) }
  const definition = { ...testAgent, name: 'tutor', tried: [{ ...testAgent.model, name: 'other' }] }
  const server = openEngine({
    answers: [{ parts: [{ tool_call: { name: 'ask_tutor', arguments: {} } }] }],
    tools: [{ ...rules, location: 'agent', agent: 'tutor', handoff: true }],
    tried: [model],
    others: [
      { definition, ...tried, model: scripted([{ parts: [{ text: 'Tutor.' }] }]), toolbox: createStaticToolbox([]) },
    ],
  })
  const first = await server.start('q')
  expect(outline(await server.events(first))).toContain('TEXT_MESSAGE_CONTENT Tutor.')

  const existing = await server.engine.sessions.get('local_user', 'thread')
  const seen = await server.events(await server.start('q', { session: { existing }, ...trying('q') }))

  expect(outline(seen)).toContain('TEXT_MESSAGE_CONTENT Tried.')
  expect(seen.find(({ type }) => type === 'TEXT_MESSAGE_START')).toMatchObject({ name: 'tutor' })
  expect(seen.at(-1)).toMatchObject({ usage: [{ model: 'other' }] })
  await server.close()
})
