import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createQuarterdeck, type Quarterdeck } from '../app/create-quarterdeck.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { silentLogger } from '../domain/logger.ts'
import type { ApprovalStatus as ServerApprovalStatus } from '../domain/records/record.ts'
import type { RunEvent as ServerEvent } from '../domain/session/event.ts'
import type { RunStatus as ServerRunStatus } from '../domain/session/run.ts'
import type { Log } from '../protocols/manage/sessions/schema.ts'
import {
  type Approval,
  type ApprovalStatus,
  type Client,
  type ClientErrorCode,
  createClient,
  type LogPage,
  type RunEvent,
  type RunStatus,
} from './client.ts'

// The events are AG-UI's, and the codes are the server's. These lines do not compile when the client has fallen behind.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never
type Fits<A, B> = [A] extends [B] ? true : never
const kept: true[] = [
  true satisfies Fits<ServerEvent, RunEvent>,
  true satisfies Same<ServerEvent['type'], RunEvent['type']>,
  true satisfies Same<ServerRunStatus, RunStatus>,
  true satisfies Same<ServerApprovalStatus, ApprovalStatus>,
  true satisfies Fits<ErrorCode, ClientErrorCode>,
  true satisfies Same<Omit<Log, 'events'>, Omit<LogPage, 'events' | 'next'>>,
  true satisfies Same<Omit<Log['events'][number], 'event'>, Omit<LogPage['events'][number], 'event'>>,
]

const token = 'the-token-of-the-operator'
let quarterdeck: Quarterdeck
let url: string
let folder: string
let user: Client
let operator: Client

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quarterdeck-client-'))
  const call = { when: 'Write to Ada.', parts: [{ tool_call: { name: 'send_mail', arguments: { to: 'ada' } } }] }
  const done = { parts: [{ text: 'Done.' }] }
  writeFileSync(join(folder, 'script.json'), JSON.stringify({ answers: [call, done], loop: true }))
  writeFileSync(
    join(folder, 'agent.yaml'),
    'name: clerk\nmodel: { provider: scripted, script: ./script.json }\ninstructions: Help.\n',
  )
  quarterdeck = createQuarterdeck({
    agent: folder,
    basePath: '/here',
    env: { QUARTERDECK_CONFIG_DIR: join(folder, 'config') },
    settings: { port: 0, 'auth.operator_token': token },
    tools: [
      {
        name: 'send_mail',
        description: 'Sends a mail to a person.',
        parameters: { type: 'object', properties: { to: { type: 'string' } } },
        run: () => 'sent',
      },
    ],
    log: silentLogger,
  })
  url = (await quarterdeck.listen()).url
  user = createClient({ url })
  operator = createClient({ url, token })
})
afterAll(async () => {
  await quarterdeck.close({ drainMs: 0 })
  rmSync(folder, { recursive: true })
})

/** Brings the agent to ask. */
async function ask(session: string): Promise<Approval> {
  const { run_id } = await user.send(session, 'Write to Ada.')
  for await (const { event } of user.events({ run: run_id })) {
    const { outcome } = event.type === 'RUN_FINISHED' ? event : {}
    if (outcome?.type === 'interrupt') expect(outcome.interrupts).toHaveLength(1)
  }
  const [found] = await user.approvals({ session, limit: 1 })
  if (found === undefined) throw new Error('nothing waits')
  return found
}

test('the types of the client are those of the server', () => {
  expect(new Set(kept)).toEqual(new Set([true]))
})

test('an approval is watched from its beginning to its end', async () => {
  const leave = new AbortController()
  const pauses: number[] = []
  const watching = createClient({
    url,
    token,
    // Between two looks somebody decides.
    async sleep(ms) {
      pauses.push(ms)
      if (pauses.length === 2) await operator.reject(waiting, { reason: 'Not today.' })
      if (pauses.length === 3) leave.abort(new Error('enough'))
      leave.signal.throwIfAborted()
    },
  })
  const waiting = await ask('watched')
  const seen: [string, string | null][] = []
  const watch = async () => {
    for await (const one of watching.watchApprovals({
      session: waiting.session_id,
      everyMs: 7,
      signal: leave.signal,
    })) {
      seen.push([one.status, one.reason])
    }
  }
  await expect(watch()).rejects.toThrow('enough')
  expect([seen, pauses]).toEqual([
    [
      ['pending', null],
      ['rejected', 'Not today.'],
    ],
    [7, 7, 7],
  ])
})

test('a person answers in the place of the tool, and a refusal can be remembered', async () => {
  const shown = await ask('answered')
  expect(shown).toMatchObject({ kind: 'tool_call', action: 'runs the function of send_mail', preview: null })
  expect(await operator.respond(shown, 'Ada knows.')).toMatchObject({ status: 'answered', response: 'Ada knows.' })

  const again = await ask('refused')
  await operator.reject(again, { remember: 'session', grant: { where: { to: 'ada' } } })
  const [refusal] = await operator.grants({ session: again.session_id })
  expect(refusal).toMatchObject({ effect: 'refuse', tool: 'send_mail', approval_id: again.approval_id })
  await operator.revokeGrant(refusal?.grant_id ?? '')
})

test('an edit is checked, an argument revealed, and what was looked at goes along', async () => {
  const asked = await ask('looked at')
  const shown = await operator.approval(asked.approval_id, { include: ['content', 'all'] })
  expect(shown.shown.arguments).toMatchObject([{ name: 'to', text: 'ada', secret: false, cut: null }])
  expect(await operator.checkEdit(asked.approval_id, { arguments: { to: 'bob' } })).toMatchObject({
    ok: true,
    changes: [{ name: 'to', before: 'ada', after: 'bob' }],
  })
  expect(await operator.checkEdit(asked.approval_id, { content: 'x' })).toMatchObject({ ok: false })
  expect(await operator.reveal(asked.approval_id, 'to')).toEqual({ name: 'to', text: 'ada' })
  expect(await operator.reject(shown, { looked_at: { whole: true } })).toMatchObject({ decided_channel: 'http' })
  const { items } = await operator.inbox({ status: 'done', limit: 1 })
  expect(items).toMatchObject([
    { id: asked.approval_id, status: 'rejected', title: asked.title, decided_by: 'operator' },
  ])
})

test('an approval counts once, for the call that was shown, from a permitted caller', async () => {
  const shown = await ask('decided')
  await expect(operator.approve({ ...shown, digest: 'of something else' })).rejects.toMatchObject({
    code: 'approval_changed',
    status: 409,
  })
  await expect(user.approve(shown)).rejects.toMatchObject({ code: 'forbidden' })
  const decided = await operator.approve(shown, { reason: 'Fine.', arguments: { to: 'Ada' }, remember: 'session' })
  expect(decided).toMatchObject({ decided_by: 'operator', reason: 'Fine.', edited_arguments: { to: 'Ada' } })
  await expect(operator.approve(shown)).rejects.toMatchObject({ code: 'approval_decided' })

  expect(await operator.approvals({ session: shown.session_id })).toEqual([])
  const [grant] = await operator.grants({ session: shown.session_id })
  expect([grant?.tool, grant?.where]).toEqual(['send_mail', expect.objectContaining({ to: { equals: 'Ada' } })])
  await operator.revokeGrant(grant?.grant_id ?? '')
  expect(await operator.grants({ session: shown.session_id })).toEqual([])
})

test('a file is uploaded, named in a message as it came back, and downloaded', async () => {
  const file = await user.upload(new File(['Hello.\n'], 'hello.txt', { type: 'text/plain' }))
  expect(file).toMatchObject({ name: 'hello.txt', mime_type: 'text/plain', bytes: 7 })
  expect((await user.upload(new Blob(['x\n']))).name).toBe('file')
  const { run_id } = await user.send('with a file', 'Read it.', { files: [file] })
  for await (const _event of user.events({ run: run_id }));
  expect(await (await user.download(file)).text()).toBe('Hello.\n')
  await expect(user.download({ file_id: '0192f3a1-7b2c-7def-8abc-0123456789ab' })).rejects.toMatchObject({
    code: 'file_not_found',
  })
})
