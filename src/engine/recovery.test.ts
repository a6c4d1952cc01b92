import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ModelRequest } from '../models/model.ts'
import type { ServerTool } from '../tools/tool.ts'
import { eventsOf, openEngine, outline, type TestEngineOptions, testTool } from './testing/open-engine.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quarterdeck-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = (options: TestEngineOptions) => openEngine({ path: join(folder, 'first', 'test.db'), ...options })

/** A server on what kill -9 leaves: the files as they are at this moment. The first one lives on beside it and is not heard. */
function reopen(options: TestEngineOptions) {
  cpSync(join(folder, 'first'), join(folder, 'second'), { recursive: true })
  return openEngine({ path: join(folder, 'second', 'test.db'), ...options })
}

/** Reads a run until an event of this type has been seen: then the server "dies" without a word. */
async function until(
  server: ReturnType<typeof open>,
  accepted: Awaited<ReturnType<ReturnType<typeof open>['start']>>,
  type: string,
) {
  const stop = new AbortController()
  for await (const batch of server.engine.follow(
    { sessionId: accepted.session.id, runId: accepted.run.id, after: 0 },
    stop.signal,
  )) {
    if (eventsOf(batch).some((event) => event.type === type)) return
  }
}

const forever = new Promise<never>(() => {})

const tool = (effect: ServerTool['effect'], call: ServerTool['call']) => testTool({ name: 'act', effect, call })

describe('after a crash', () => {
  test('a run goes on after its last finished step, and the half answer stays, closed and marked', async () => {
    const before = open({ answers: [{ parts: [{ text: 'Half ' }, { text: 'an' }, { hang: true }] }] })
    const accepted = await before.start('q', { wireRunId: 'run-1', origin: 'reader' })
    await until(before, accepted, 'TEXT_MESSAGE_CONTENT')

    const requests: ModelRequest[] = []
    const after = reopen({ answers: [{ parts: [{ text: 'Whole.' }] }], onRequest: (request) => requests.push(request) })
    await after.engine.recover()
    const seen = await after.events(accepted)

    expect(outline(seen).filter((line) => !line.startsWith('TEXT_MESSAGE_CONTENT'))).toEqual([
      'RUN_STARTED',
      'STEP_STARTED step_1',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'MESSAGES_SNAPSHOT',
      'STEP_STARTED step_1',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'RUN_FINISHED success',
    ])
    const stored = await after.engine.messages(accepted.session.id, 10)
    expect(stored.map((message) => [message.role, message.brokenOff ?? false])).toEqual([
      ['user', false],
      ['assistant', true],
      ['assistant', false],
    ])
    expect(requests.map((request) => request.messages.map((message) => message.content))).toEqual([['q']])
    await after.close()
  })

  test('no event id is used again: the run goes on behind the reserved block', async () => {
    const before = open({ answers: [{ parts: [{ text: 'a' }, { hang: true }] }] })
    const accepted = await before.start('q')
    await until(before, accepted, 'TEXT_MESSAGE_CONTENT')
    const head = await before.store.head(accepted.session.id)

    const after = reopen({})
    await after.engine.recover()
    await after.events(accepted)
    const seqs = (await after.engine.entries(accepted.session.id, head, 100)).map((entry) => entry.seq)
    expect(seqs[0]).toBeGreaterThan(head + 1_000)
    expect(seqs).toEqual(seqs.map((_, i) => (seqs[0] ?? 0) + i))
    await after.close()
  })

  test('a tool that may have had its effect is not started again: the run asks for a review', async () => {
    const before = open({
      tools: [tool('once', () => forever)],
      answers: [{ parts: [{ tool_call: { name: 'act' } }] }],
    })
    const accepted = await before.start('q')
    await until(before, accepted, 'STEP_FINISHED')

    let calls = 0
    const after = reopen({ tools: [tool('once', async () => ({ content: String(++calls), isError: false }))] })
    await after.engine.recover()
    const last = (await after.events(accepted)).at(-1)
    expect(last).toMatchObject({
      type: 'RUN_ERROR',
      code: 'needs_review',
      message: expect.stringContaining('act (call_'),
    })
    expect(calls).toBe(0)
    expect((await after.engine.getRun('local_user', accepted.run.id)).status).toBe('interrupted')
    await after.close()
  })

  test('a tool that only reads is called again, with the same call id', async () => {
    const seen: string[] = []
    const before = open({
      tools: [
        tool('read', ({ callId }) => {
          seen.push(callId)
          return forever
        }),
      ],
      answers: [{ parts: [{ tool_call: { name: 'act' } }] }],
    })
    const accepted = await before.start('q')
    await until(before, accepted, 'STEP_FINISHED')

    const after = reopen({
      tools: [
        tool('read', async ({ callId }) => {
          seen.push(callId)
          return { content: 'read', isError: false }
        }),
      ],
      answers: [{ parts: [{ text: 'done' }] }],
    })
    await after.engine.recover()
    const events = outline(await after.events(accepted))
    expect(events.slice(-7)).toEqual([
      'TOOL_CALL_RESULT read',
      'STEP_STARTED step_2',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT done',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_2',
      'RUN_FINISHED success',
    ])
    expect(seen).toEqual([seen[0], seen[0]])
    await after.close()
  })

  test('queued runs are started, and a run that was told to stop is stopped', async () => {
    const before = open({ answers: [{ parts: [{ text: 'a' }, { hang: true }] }] })
    const first = await before.start('1')
    const second = await before.start('2', { session: { existing: first.session } })
    await before.log.commit({ type: 'request_cancel', runId: first.run.id, entries: [] })

    const after = reopen({ answers: [{ parts: [{ text: 'b' }] }] })
    await after.engine.recover()
    expect(outline(await after.events(first)).at(-1)).toBe('RUN_FINISHED cancelled')
    await after.engine.recover()
    expect(outline(await after.events(second)).at(-1)).toBe('RUN_FINISHED success')
    await after.close()
  })
})

describe('a graceful stop', () => {
  test('marks what was read live, suspends what runs in the background, and the next start goes on with it', async () => {
    const before = open({
      answers: [
        { when: 'live', parts: [{ text: 'a' }, { hang: true }] },
        { when: 'later', parts: [{ text: 'b' }, { hang: true }] },
      ],
    })
    const live = await before.start('live', { origin: 'reader' })
    const background = await before.start('later', { session: { create: { alias: 'background' } } })
    const seen = before.events(live)
    await until(before, live, 'TEXT_MESSAGE_CONTENT')
    await until(before, background, 'TEXT_MESSAGE_CONTENT')
    await before.engine.drain(1)
    expect(outline(await seen).at(-1)).toBe('RUN_ERROR interrupted')
    await expect(before.start('more')).rejects.toMatchObject({ code: 'shutting_down' })
    await before.close()

    const after = reopen({ answers: [{ parts: [{ text: 'done' }] }] })
    await after.engine.recover()
    expect(outline(await after.events(background)).at(-1)).toBe('RUN_FINISHED success')
    expect((await after.engine.getRun('local_user', live.run.id)).status).toBe('interrupted')
    await after.close()
  })
})
