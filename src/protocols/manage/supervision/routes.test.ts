import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agentIn, callOf } from '../../../supervision/testing/open-supervision.ts'
import { makeWorkspace } from '../../../supervision/testing/workspace.ts'
import { asAda, asConsole, asEve, asLocalUser, asOperator, refusalOf } from '../../testing/open-doors.ts'
import { openSupervisedDoors } from '../../testing/open-supervised-doors.ts'
import { readSse } from '../../testing/sse-reader.ts'
import { EditCheckSchema, type FileLines, FileLinesSchema, ShownApprovalSchema } from '../approvals/schema.ts'
import { FeedItemSchema } from '../events/schema.ts'
import { InboxSchema } from '../inbox/schema.ts'
import { AlertSchema } from '../records/kinds/alert.ts'
import { PromptSchema } from '../records/kinds/prompt.ts'
import { StandbySchema } from '../records/kinds/standby.ts'

type Doors = Awaited<ReturnType<typeof openSupervisedDoors>>

const json = async (response: Response) => (await response.json()) as Record<string, unknown>

const sessionOf = async (doors: Doors) => (await doors.open()).id

async function trail(doors: Doors): Promise<Record<string, unknown>[]> {
  const entries = await doors.store.audit.entries(0, 1_000)
  return entries.map(({ text }) => JSON.parse(text)).map(({ kind, by, details }) => ({ kind, by, ...details }))
}

async function nextApproval({ store }: Doors): Promise<string> {
  for (;;) {
    const [asked] = await store.waits.list({ wait: 'approval', isWaiting: true, limit: 1 })
    if (asked !== undefined) return asked.id
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
}

describe('POST /prompts/{id}', () => {
  test('answers the agent, and the record says who, when and where', async () => {
    await using doors = await openSupervisedDoors()
    const { id, answer } = await doors.ask()

    const body = { decision: 'refine', instruction: 'Only the tests.', reason: 'Docs come later.' }
    const response = await doors.post(`/prompts/${id}`, body, asOperator)

    expect(response.status).toBe(200)
    expect(PromptSchema.parse(await response.json())).toMatchObject({
      prompt_id: id,
      status: 'decided',
      prompt_text: 'Shall I go on?',
      decided_by: 'operator',
      decided_channel: 'http',
      ...body,
    })
    expect((await answer).answer).toMatchObject(body)
  })

  test('a second answer is told who answered what and when', async () => {
    await using doors = await openSupervisedDoors()
    const { id, answer } = await doors.ask()
    await doors.post(`/prompts/${id}`, { decision: 'continue' }, asOperator)
    await answer

    const late = await doors.post(`/prompts/${id}`, { decision: 'stop' }, asOperator)

    expect(late.status).toBe(409)
    expect(await json(late)).toMatchObject({
      code: 'record_decided',
      detail: expect.stringMatching(/answered with "continue" by operator at 2/),
      decided_by: 'operator',
      status: 409,
    })
  })

  test.each([
    ['no decision', {}, 400, 'invalid_request'],
    ['a refinement without words', { decision: 'refine' }, 400, 'invalid_request'],
    ['blank words', { decision: 'refine', instruction: ' \n' }, 400, 'invalid_request'],
    ['a book', { decision: 'refine', instruction: 'x'.repeat(4_001) }, 400, 'invalid_request'],
    ['an unknown key', { decision: 'continue', remember: true }, 400, 'invalid_request'],
  ])('%s is refused, and the prompt still waits', async (_what, body, status, code) => {
    await using doors = await openSupervisedDoors()
    const { id, answer } = await doors.ask()

    expect(await refusalOf(await doors.post(`/prompts/${id}`, body, asOperator))).toEqual({ status, code })

    expect(await json(await doors.get(`/prompts/${id}`, asOperator))).toMatchObject({ status: 'pending' })
    await doors.post(`/prompts/${id}`, { decision: 'stop' }, asOperator)
    await answer
  })

  test('only the owner, as an operator, or an admin may answer; others see it on record', async () => {
    await using doors = await openSupervisedDoors()
    const { id, answer } = await doors.ask()

    for (const [headers, status] of [
      [{}, 401],
      [asLocalUser, 403],
      [asAda, 403],
      [asEve, 403],
    ] as const) {
      expect((await doors.post(`/prompts/${id}`, { decision: 'continue' }, headers)).status).toBe(status)
    }
    expect((await doors.get(`/prompts/${id}`, asAda)).status).toBe(404)
    expect((await doors.get(`/prompts/${id}`, asLocalUser)).status).toBe(200)
    expect((await doors.get(`/prompts/${id}`, asEve)).status).toBe(200)
    expect(await trail(doors)).toContainEqual({ kind: 'operator_read', by: 'eve', owner: 'local_user' })

    await doors.post(`/prompts/${id}`, { decision: 'continue' }, asOperator)
    expect((await answer).answer.decision).toBe('continue')
  })
})

describe('GET /prompts', () => {
  test('pages through what waits, newest first, and filters', async () => {
    await using doors = await openSupervisedDoors()
    const asked = []
    for (const connectionId of ['a', 'b', 'c']) asked.push(await doors.ask(`From ${connectionId}`, { connectionId }))
    const texts = async (query: string, headers: Record<string, string> = asOperator) => {
      const response = await doors.get(`/prompts${query}`, headers)
      const { prompts = [] } = (await response.json()) as { prompts?: { prompt_text: string }[] }
      return {
        texts: prompts.map(({ prompt_text }) => prompt_text),
        next: /<\/prompts([^>]+)>/.exec(response.headers.get('link') ?? '')?.[1],
      }
    }

    const first = await texts('?limit=2')
    expect(first.texts).toEqual(['From c', 'From b'])
    expect(await texts(first.next ?? '')).toEqual({ texts: ['From a'], next: undefined })
    expect((await texts('', asAda)).texts).toEqual([])
    expect((await texts('?owner=local_user', asEve)).texts).toHaveLength(3)
    expect((await texts('?owner=nobody', asEve)).texts).toEqual([])
    expect((await texts('?status=decided')).texts).toEqual([])
    const session = (await doors.store.waits.get(asked[1]?.id ?? ''))?.sessionId
    expect((await texts(`?session=${session}&status=all`)).texts).toEqual(['From b'])
    expect(await trail(doors)).toContainEqual({ kind: 'operator_list', by: 'eve', owner: 'nobody' })

    for (const { id, answer } of asked) {
      await doors.post(`/prompts/${id}`, { decision: 'stop' }, asOperator)
      await answer
    }
  })

  test.each([
    ['status=open', asOperator, 400],
    ['before=x', asOperator, 400],
    ['session=x', asOperator, 400],
    ['owner=', asOperator, 400],
    ['limit=0', asOperator, 400],
    ['owner=local_user', asAda, 403],
  ])('refuses %s', async (query, headers, status) => {
    await using doors = await openSupervisedDoors()

    expect((await doors.get(`/prompts?${query}`, headers)).status).toBe(status)
  })
})

describe('POST /waits/{id}', () => {
  test.each([
    ['an instruction', { instruction: 'Write the tests.' }, { status: 'resumed', instruction: 'Write the tests.' }],
    ['nothing', undefined, { status: 'resumed', instruction: null }],
    ['a stop', { stop: true }, { status: 'resumed', instruction: 'stop' }],
  ])('%s wakes the agent, once', async (_what, body, told) => {
    await using doors = await openSupervisedDoors()
    const { id, answer } = await doors.standBy()
    expect(StandbySchema.parse(await json(await doors.get(`/waits/${id}`, asOperator))).status).toBe('waiting')

    const response = await doors.post(`/waits/${id}`, body, asOperator)

    expect(StandbySchema.parse(await response.json())).toMatchObject({ wait_id: id, ...told })
    expect((await answer).answer).toMatchObject(told)
    expect(await refusalOf(await doors.post(`/waits/${id}`, {}, asOperator))).toEqual({
      status: 409,
      code: 'record_decided',
    })
  })

  test('an instruction and a stop together are refused', async () => {
    await using doors = await openSupervisedDoors()
    const { id, answer } = await doors.standBy()

    expect((await doors.post(`/waits/${id}`, { instruction: 'x', stop: true }, asOperator)).status).toBe(400)

    await doors.post(`/waits/${id}`, {}, asOperator)
    await answer
  })
})

describe('alerts', () => {
  test('a nudge is pushed, a dismissal ends the alert, and a second one is told so', async () => {
    await using doors = await openSupervisedDoors()
    await doors.heartbeat()
    const id = await doors.stall()
    const before = AlertSchema.parse(await json(await doors.get(`/alerts/${id}`, asOperator)))
    expect(before).toMatchObject({ status: 'pending', last_tool: 'heartbeat', nudge_count: 0 })

    const nudged = await doors.post(`/alerts/${id}/nudge`, { message: 'Hello?' }, asOperator)
    expect(AlertSchema.parse(await nudged.json())).toMatchObject({ status: 'nudged', nudge_message: 'Hello?' })
    expect(doors.nudges).toMatchObject([{ message: 'Hello?', source: 'operator via http' }])

    const done = await doors.post(`/alerts/${id}/dismiss`, undefined, asOperator)
    expect(AlertSchema.parse(await done.json())).toMatchObject({ status: 'dismissed', decided_by: 'operator' })
    for (const path of ['dismiss', 'nudge', 'stop']) {
      const late = await doors.post(`/alerts/${id}/${path}`, {}, asOperator)
      expect(await refusalOf(late)).toEqual({ status: 409, code: 'record_decided' })
    }
  })

  test('a stop ends the session with its alert', async () => {
    await using doors = await openSupervisedDoors()
    const session = await sessionOf(doors)
    const id = await doors.stall()

    const stopped = await doors.post(`/alerts/${id}/stop`, {}, asOperator)

    expect(AlertSchema.parse(await stopped.json())).toMatchObject({ status: 'dismissed', decided_by: 'operator' })
    expect((await doors.elsewhere.sessions.get(session)).supervision.status).toBe('terminated')
    expect((await doors.heartbeat({ sessionId: session })).isError).toBe(true)
  })

  test('are switched off and on for one session', async () => {
    await using doors = await openSupervisedDoors()
    const id = await sessionOf(doors)
    const set = (body: object, who = asOperator) => doors.post(`/sessions/${id}/stalls`, body, who)

    expect(await (await set({ enabled: false })).json()).toMatchObject({ session_id: id, stalls_enabled: false })
    expect((await doors.heartbeat()).answer).toMatchObject({ stall_detection_enabled: false })
    expect(await (await set({ enabled: true })).json()).toMatchObject({ stalls_enabled: true })
    expect([(await set({ enabled: 'no' })).status, (await set({ enabled: false }, asEve)).status]).toEqual([400, 403])
  })

  test('others may not end them', async () => {
    await using doors = await openSupervisedDoors()
    await doors.open()
    const id = await doors.stall()

    for (const path of ['dismiss', 'nudge', 'stop']) {
      expect((await doors.post(`/alerts/${id}/${path}`, {}, asEve)).status).toBe(403)
    }
  })
})

describe('a supervised session', () => {
  test('shows its own fields to its owner and to operators', async () => {
    await using doors = await openSupervisedDoors()
    const id = await sessionOf(doors)
    const supervision = {
      session_id: id,
      owner_user_id: 'local_user',
      workspace_root: '/srv/shop',
      status: 'active',
      host: 'claude-code',
      mode: 'remote',
      nudge_count: 0,
      stall_paused: false,
      stalls_enabled: true,
      progress_snapshot: null,
    }

    expect(await json(await doors.get(`/sessions/${id}`, asLocalUser))).toMatchObject({ session_id: id, supervision })
    expect(await json(await doors.get(`/sessions/${id}`, asEve))).toMatchObject({ owner: 'local_user', supervision })
    expect((await doors.get(`/sessions/${id}`, asAda)).status).toBe(404)
    const list = (await (await doors.get('/sessions?owner=*', asEve)).json()) as { supervision?: object }[]
    expect(list).toMatchObject([{ supervision: { status: 'active', host: 'claude-code' } }])
  })

  test('is paused, resumed, steered and ended, and repeating that changes nothing', async () => {
    await using doors = await openSupervisedDoors()
    const id = await sessionOf(doors)
    const post = async (what: string, body: unknown = {}) =>
      json(await doors.post(`/sessions/${id}/${what}`, body, asOperator))

    expect(await post('pause')).toMatchObject({ status: 'paused' })
    expect(await post('pause')).toMatchObject({ status: 'paused' })
    expect((await doors.heartbeat()).answer).toMatchObject({ error_code: 'session_paused' })
    expect(await post('resume')).toMatchObject({ status: 'active' })
    expect(await post('steer', { text: 'Use tabs.' })).toMatchObject({ kind: 'steering', text: 'Use tabs.' })
    expect(await post('task', { text: 'Then rest.' })).toMatchObject({ kind: 'task', session_id: null })
    expect((await doors.heartbeat()).answer).toMatchObject({ pending_steering: [{ text: 'Use tabs.' }] })
    expect(await post('mode', { mode: 'local' })).toEqual({ previous_mode: 'remote', current_mode: 'local' })
    expect(await post('nudge')).toMatchObject({ nudge_count: 1 })
    expect(await post('handover', { to: 'grace' })).toMatchObject({ owner_user_id: 'grace' })
    expect(await post('terminate', { reason: 'Done.' })).toMatchObject({ status: 'terminated' })
    expect(await post('terminate')).toMatchObject({ status: 'terminated' })
    expect(await post('pause')).toMatchObject({ code: 'session_ended' })
  })

  test.each([
    ['steer', {}, 400],
    ['steer', { text: '' }, 400],
    ['task', { text: 'x'.repeat(4_001) }, 400],
    ['mode', { mode: 'loud' }, 400],
    ['handover', { to: 'nobody' }, 400],
    ['pause', { now: true }, 400],
    ['terminate', [], 400],
  ])('refuses %s with %o', async (what, body, status) => {
    await using doors = await openSupervisedDoors()
    const id = await sessionOf(doors)

    expect((await doors.post(`/sessions/${id}/${what}`, body, asOperator)).status).toBe(status)
  })

  test('takes commands only from its operator, and only under its own id', async () => {
    await using doors = await openSupervisedDoors()
    const id = await sessionOf(doors)
    const ours = await doors.start('Hi')
    const status = async (reference: string, headers: Record<string, string>) =>
      (await doors.post(`/sessions/${reference}/pause`, {}, headers)).status

    expect(await status(id, {})).toBe(401)
    expect(await status(id, asLocalUser)).toBe(403)
    expect(await status(id, asEve)).toBe(403)
    expect(await status(ours.session.id, asOperator)).toBe(404)
    expect(await status(doors.ids.uuid(), asOperator)).toBe(404)
    expect(await status('shop', asOperator)).toBe(400)
    expect((await doors.remove(`/sessions/${id}`, asLocalUser)).status).toBe(409)
    await doors.events(ours)
  })

  test.each([
    ['/', (id: string) => ({ threadId: id, runId: 'r', messages: [{ id: 'm', role: 'user', content: 'Hi' }] })],
    ['/chat', (id: string) => ({ session_id: id, message: 'Hi' })],
    ['/agent/AGENT/chat', (id: string) => ({ session_id: id, message: 'Hi' })],
    ['/sessions/ID/messages', () => ({ message: 'Hi' })],
  ])('takes no messages at %s, and says how to reach its agent', async (path, body) => {
    await using doors = await openSupervisedDoors()
    const id = await sessionOf(doors)
    const [agent] = doors.engine.agents.list
    const place = path.replace('ID', id).replace('AGENT', agent?.name ?? '')

    expect(await refusalOf(await doors.post(place, body(id), asLocalUser))).toEqual({
      status: 409,
      code: 'session_supervised',
    })
  })

  test('a command, an answer or a decision of somebody who may not is in the trail, each time', async () => {
    await using doors = await openSupervisedDoors()
    const session = await sessionOf(doors)
    const { id } = await doors.ask()
    const tries: [string, unknown, Record<string, string>][] = [
      [`/sessions/${session}/pause`, {}, asEve],
      [`/sessions/${session}/steer`, { text: 'my secret plan' }, asEve],
      [`/sessions/${session}/terminate`, {}, asEve],
      [`/prompts/${id}`, { decision: 'stop' }, asEve],
      [`/prompts/${id}`, { decision: 'stop' }, asEve],
      [`/prompts/${id}`, { decision: 'continue' }, asAda],
      [`/prompts/${id}`, { decision: 'continue' }, {}],
    ]
    for (const [path, body, as] of tries) expect([401, 403]).toContain((await doors.post(path, body, as)).status)

    const refused = async () => (await trail(doors)).filter(({ kind }) => kind === 'refused')
    await expect.poll(async () => (await refused()).length).toBe(tries.length)
    const eve = { kind: 'refused', by: 'eve', what: 'request', why: 'forbidden', credential: expect.any(String) }
    expect(await refused()).toMatchObject([
      { ...eve, tried: 'POST /sessions/:id/pause', role: 'operator', reason: expect.stringContaining('or an admin') },
      { ...eve, tried: 'POST /sessions/:id/steer' },
      { ...eve, tried: 'POST /sessions/:id/terminate' },
      { ...eve, tried: 'POST /prompts/:id', record: id, decision: 'stop' },
      { ...eve, tried: 'POST /prompts/:id', record: id, decision: 'stop' },
      { by: 'ada', tried: 'POST /prompts/:id', record: id, role: 'user', why: 'forbidden' },
      { by: 'nobody', tried: 'POST /prompts/:id', record: id, why: 'unauthorized' },
    ])
    const entries = await doors.store.audit.entries(0, 1_000)
    expect(JSON.stringify(entries)).not.toContain('secret plan')
    expect(JSON.parse(entries.at(-1)?.text ?? '').by).toBe('nobody')
    const paused = entries.map(({ text }) => JSON.parse(text)).find(({ details }) => /pause$/.test(details.tried))
    expect(paused.session).toBe(session)
  })

  test('the trail names the channel and the credential of every command', async () => {
    await using doors = await openSupervisedDoors()
    const session = await doors.open({ owner: 'eve' })
    await doors.post(`/sessions/${session.id}/pause`, {}, asEve)

    expect(await trail(doors)).toContainEqual({
      kind: 'supervised',
      by: 'eve',
      what: 'paused',
      channel: 'http',
      credential: 'token-of-eve',
    })
  })
})

describe('the approval of a change', () => {
  async function openAsked(text = 'one\nthree\n') {
    const doors = await openSupervisedDoors()
    const root = makeWorkspace({ 'a.txt': 'one\ntwo\n' })
    return Object.assign(doors, await doors.askToWrite(root, 'a.txt', text))
  }

  test('shows the diff by its id, marked for people, and puts on record who saw which digest', async () => {
    await using doors = await openAsked('one\nthr\u202eee\n')
    const shown = ShownApprovalSchema.parse(await json(await doors.get(`/approvals/${doors.id}`, asOperator)))
    expect(shown).toMatchObject({
      kind: 'diff',
      host: 'claude-code',
      risk: 'critical',
      edited: false,
      change: { file_path: 'a.txt', kind: 'modify', added_lines: 1, removed_lines: 1, has_hidden_text: true },
      diff: expect.stringContaining('+thr\u202eee'),
      shown_diff: expect.stringContaining('+thr<U+202E>ee'),
    })
    await doors.get(`/approvals/${doors.id}`, asOperator)
    await doors.get(`/approvals/${doors.id}`, asEve)
    const seen = (await trail(doors)).filter(({ kind }) => kind === 'shown')
    const digest = { digest: shown.digest, surface: 'http', approval: doors.id }
    expect(seen).toMatchObject([
      { by: 'operator', ...digest },
      { by: 'eve', ...digest },
    ])
    const { approvals } = (await json(await doors.get('/approvals', asOperator))) as { approvals: object[] }
    expect(approvals[0]).not.toHaveProperty('diff')

    await doors.post(`/approvals/${doors.id}`, { decision: 'reject' }, asOperator)
    await doors.answer
  })

  test('shows the lines between the parts of its diff as they were then, bounded and to operators only', async () => {
    await using doors = await openSupervisedDoors()
    const old = Array.from({ length: 40 }, (_, i) => (i === 19 ? 'hid\u202eden' : `line ${i + 1}`))
    const root = makeWorkspace({ 'a.txt': `${old.join('\n')}\n` })
    const now = [...old.slice(0, 2), 'new', ...old.slice(2, -1), 'last']
    const { id, answer } = await doors.askToWrite(root, 'a.txt', `${now.join('\n')}\n`)
    // What happens to the file meanwhile does not change what the diff was made from.
    writeFileSync(join(root, 'a.txt'), 'something else\n')
    const lines = async (query: string) => json(await doors.get(`/approvals/${id}/lines${query}`, asOperator))
    const about = { total_lines: 41, left_out: 0 }
    expect(FileLinesSchema.parse(await lines('?from=20&to=22'))).toEqual({
      ...{ from: 20, lines: ['line 19', 'hid<U+202E>den', 'line 21'] },
      ...about,
    })
    expect(await lines('?from=41')).toEqual({ from: 41, lines: ['last'], ...about })
    expect(((await lines('')) as unknown as FileLines).lines).toHaveLength(41)
    for (const query of ['?from=0', '?to=x', '?from=42', '?from=3&to=2']) {
      expect(await lines(query)).toMatchObject({ code: 'invalid_request', status: 400 })
    }
    expect((await doors.get(`/approvals/${id}/lines`, asAda)).status).toBe(403)
    await doors.post(`/approvals/${id}`, { decision: 'reject' }, asOperator)
    await answer
  })

  test('does not show the rest of a file that holds secrets, nor of one that it deletes', async () => {
    await using doors = await openSupervisedDoors()
    const root = makeWorkspace({ '.env': 'A=1\nTOKEN=abc\n', 'b.txt': 'one\n' })
    const refusal = async (id: string) => json(await doors.get(`/approvals/${id}/lines`, asOperator))
    const secret = await doors.askToWrite(root, '.env', 'A=2\nTOKEN=abc\n')
    expect(await refusal(secret.id)).toMatchObject({ code: 'forbidden' })
    await doors.post(`/approvals/${secret.id}`, { decision: 'reject' }, asOperator)
    await secret.answer
    const gone = await doors.askToWrite(root, 'b.txt', '--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n')
    expect(await refusal(gone.id)).toMatchObject({ code: 'file_not_found' })
    await doors.post(`/approvals/${gone.id}`, { decision: 'reject' }, asOperator)
    await gone.answer
  })

  test('an edited text is shown once more before its yes, and the agent is told', async () => {
    await using doors = await openAsked()
    const edit = { decision: 'approve', content: 'one\nfour\n' }
    const first = await doors.post(`/approvals/${doors.id}`, edit, asOperator)
    expect(first.status).toBe(409)
    const { code, digest, diff } = await json(first)
    expect({ code, diff }).toEqual({ code: 'approval_changed', diff: expect.stringContaining('+four') })

    const yes = await doors.post(`/approvals/${doors.id}`, { decision: 'approve', digest }, asOperator)

    expect(await json(yes)).toMatchObject({ status: 'approved', edited: true, decided_channel: 'http' })
    expect((await doors.answer).answer).toMatchObject({ status: 'approved', edited: true })
  })

  test('an edit is checked against the file and against the agent’s text, before and after it is kept', async () => {
    await using doors = await openAsked()
    const check = async (body: object, headers = asOperator) =>
      EditCheckSchema.parse(await json(await doors.post(`/approvals/${doors.id}/check`, body, headers)))
    const show = async () =>
      ShownApprovalSchema.parse(await json(await doors.get(`/approvals/${doors.id}`, asOperator)))
    const asked = await show()
    expect(asked.edit_diff).toBe(null)

    const checked = await check({ content: 'one\nfo\u202eur\n' })
    expect(checked).toMatchObject({
      ok: true,
      problems: [],
      risk: 'critical',
      shown: { warnings: ['The change hides characters. They are written as marks, such as <U+202E>.'] },
      change: {
        added_lines: 1,
        removed_lines: 1,
        shown_diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+fo<U+202E>ur',
        edit_diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-three\n+fo<U+202E>ur',
      },
    })
    expect(await show()).toEqual(asked)
    expect(await check({ content: 'one\ntwo\n' })).toMatchObject({
      ok: false,
      problems: ['The diff changes nothing: a.txt is already like this.'],
    })
    expect((await check({ arguments: {} })).problems).toEqual([
      'Only the arguments of a tool call can be edited. To edit a change, send its whole new text as `content`.',
    ])
    const eves = await doors.post(`/approvals/${doors.id}/check`, { content: '' }, asEve)
    expect(await json(eves)).toMatchObject({ status: 403, owner: 'local_user' })

    const edit = { decision: 'approve', content: 'one\nfo\u202eur\n' }
    expect(await json(await doors.post(`/approvals/${doors.id}`, edit, asOperator))).toMatchObject({
      code: 'approval_changed',
      digest: checked.change?.digest,
    })
    const kept = await show()
    expect([kept.shown_diff, kept.edit_diff, kept.risk]).toEqual([
      checked.change?.shown_diff,
      checked.change?.edit_diff,
      'critical',
    ])
    // Another edit is still compared with what the agent wrote.
    await doors.post(`/approvals/${doors.id}`, { decision: 'approve', content: 'one\nfive\n' }, asOperator)
    expect((await show()).edit_diff).toContain('-three\n+five')
    expect((await check({ content: 'one\nsix\n' })).change?.edit_diff).toContain('-three\n+six')
    await doors.post(`/approvals/${doors.id}`, { decision: 'reject', looked_at: { whole: true } }, asOperator)
    expect((await doors.answer).answer.status).toBe('rejected')
    expect(await trail(doors)).toContainEqual(
      expect.objectContaining({ kind: 'diff', decision: 'rejected', looked_at: 'everything' }),
    )
  })

  test('an edit of a host’s call is checked too', async () => {
    await using doors = await openSupervisedDoors()
    const workspaceRoot = makeWorkspace({})
    const agent = agentIn(workspaceRoot, { owner: 'local_user' })
    const input = { command: 'curl https://p\u0430y.example', token: 'sk-1' }
    const answer = doors.elsewhere.service.approve_tool(callOf(agent), { tool_name: 'Bash', input })
    const id = await nextApproval(doors)
    const shown = ShownApprovalSchema.parse(await json(await doors.get(`/approvals/${id}`, asConsole)))
    expect(shown.arguments).toEqual({ ...input, token: '[masked]' })
    expect(shown.shown.warnings).toEqual([
      'Look closely: "https://p<U+0430>y.example" has letters that look like others.',
    ])
    expect(shown.description).toContain(shown.shown.warnings[0])

    const edited = { command: 'curl https://pay.example\u200b', token: '[masked]' }
    expect(await json(await doors.post(`/approvals/${id}/check`, { arguments: edited }, asConsole))).toMatchObject({
      ok: true,
      risk: 'critical',
      changes: [{ name: 'command', before: input.command, after: 'curl https://pay.example<U+200B>' }],
    })
    const yes = { decision: 'approve', digest: shown.digest, arguments: { ...edited, command: 'true' } }
    expect((await doors.post(`/approvals/${id}`, yes, asConsole)).status).toBe(200)
    expect((await answer).answer).toEqual({ behavior: 'allow', updatedInput: { command: 'true', token: 'sk-1' } })
  })

  test('another operator sees it and cannot decide it', async () => {
    await using doors = await openAsked()

    const refused = await doors.post(`/approvals/${doors.id}`, { decision: 'approve' }, asEve)
    expect(await json(refused)).toMatchObject({ status: 403, code: 'forbidden', owner: 'local_user' })

    await doors.post(`/approvals/${doors.id}`, { decision: 'approve', force: true }, asOperator)
    expect((await doors.answer).answer.status).toBe('approved')
  })
})

describe('the inbox', () => {
  test('lists every kind together, filters them, and pages across them', async () => {
    await using doors = await openSupervisedDoors()
    const root = makeWorkspace({})
    const write = await doors.askToWrite(root, 'new.txt', 'Hello\n', { connectionId: 'a' })
    const prompt = await doors.ask('Go on?', { connectionId: 'b' })
    await doors.heartbeat({ connectionId: 'd' })
    const alertId = await doors.stall()
    const wait = await doors.standBy('Next?', { connectionId: 'c' })
    const list = async (query = '') => {
      const response = await doors.get(`/inbox${query}`, asOperator)
      const { items } = InboxSchema.parse(await response.json())
      return {
        kinds: items.map(({ kind }) => kind),
        ids: items.map(({ id }) => id),
        link: response.headers.get('link'),
      }
    }

    const all = await list()
    expect(all.kinds).toEqual(['prompt', 'alert', 'wait', 'approval'])
    expect(all.ids).toEqual([prompt.id, alertId, wait.id, write.id])
    const paged = []
    for (let query: string | undefined = '?limit=1'; query !== undefined; ) {
      const page: Awaited<ReturnType<typeof list>> = await list(query)
      paged.push(...page.ids)
      query = /<\/inbox([^>]+)>/.exec(page.link ?? '')?.[1]
    }
    expect(paged).toEqual(all.ids)
    expect((await list('?kind=wait')).ids).toEqual([wait.id])
    expect((await list('?risk=low')).ids).toEqual([write.id])
    expect((await list('?risk=high')).ids).toEqual([prompt.id, alertId, wait.id])
    expect((await list('?risk=low&kind=prompt')).ids).toEqual([])
    expect((await list('?age=200')).kinds).toEqual(['prompt', 'approval'])
    expect((await list('?owner=ada')).ids).toEqual([])
    const { sessionId } = (await doors.store.waits.get(prompt.id)) ?? {}
    expect((await list(`?session=${sessionId}`)).ids).toEqual([prompt.id])

    await doors.post(`/waits/${wait.id}`, {}, asOperator)
    await doors.post(`/prompts/${prompt.id}`, { decision: 'stop' }, asOperator)
    await doors.post(`/approvals/${write.id}`, { decision: 'reject' }, asOperator)
    await Promise.all([write.answer, prompt.answer, wait.answer])
  })

  test('its events show the new kinds without a risk', async () => {
    await using doors = await openSupervisedDoors()
    const stream = readSse(await doors.get('/inbox/events', asOperator))
    const wait = await doors.standBy()
    await doors.post(`/waits/${wait.id}`, { stop: true }, asOperator)
    await wait.answer
    const frames = (await stream.until('resumed')).slice(1).map(({ data }) => FeedItemSchema.parse(JSON.parse(data)))
    await stream.close()

    const item = { kind: 'wait', wait_id: wait.id, risk: null, owner: 'local_user' }
    expect(frames).toMatchObject([
      { ...item, status: 'waiting' },
      { ...item, status: 'resumed' },
    ])
  })
})

test('when the server stops, or knows that an agent is gone, the chat rooms of the sessions are told', async () => {
  await using doors = await openSupervisedDoors()
  const [crashed, open] = [await doors.open({ connectionId: 'a' }), await doors.open({ connectionId: 'b' })]
  await doors.elsewhere.sessions.interrupt(crashed.id, 'Its process ended with code 1.')
  await doors.elsewhere.sessions.interrupt(crashed.id, 'Its process ended with code 1.')
  await doors.elsewhere.tellStop()

  expect(doors.told).toEqual([
    [crashed.id, 'The session is interrupted. Its process ended with code 1.'],
    [open.id, 'The server is stopping. What waits here stays, and can be answered when the server runs again.'],
  ])
})

test('a task is left for a workspace without a session, and the next session of the same owner there gets it', async () => {
  await using doors = await openSupervisedDoors()
  const workspaceRoot = makeWorkspace({})
  const path = `/workspaces/${encodeURIComponent(workspaceRoot)}/tasks`
  const left = await doors.post(path, { text: 'Update the docs.' }, asOperator)
  expect(left.status).toBe(202)
  expect(await json(left)).toMatchObject({ kind: 'task', session_id: null, text: 'Update the docs.' })
  await doors.post(path, { text: 'Not for the local user.' }, asEve)
  expect((await doors.post(path, { text: '' }, asOperator)).status).toBe(400)
  // What stands for the workspace is no session that lists show.
  expect(await json(await doors.get('/sessions', asOperator))).toEqual([])

  const agent = agentIn(workspaceRoot, { owner: 'local_user' })
  const { answer } = await doors.elsewhere.service.heartbeat(callOf(agent), {})
  expect(JSON.stringify(answer)).toContain('Update the docs.')
  expect(JSON.stringify(answer)).not.toContain('Not for the local user.')
})
