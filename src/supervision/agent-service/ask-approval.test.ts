import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentIn, ann, callOf, openSupervision } from '../testing/open-supervision.ts'
import { makeWorkspace } from '../testing/workspace.ts'

const wanted = { title: 'Greet the world', diff: 'Hello, world\n', file_path: 'src/greeting.txt' }

function open(
  files: Record<string, string> = { 'src/greeting.txt': 'Hello\n' },
  options: Parameters<typeof openSupervision>[0] = {},
) {
  const workspace = makeWorkspace(files)
  const service = openSupervision(options)
  const agent = agentIn(workspace)
  return {
    ...service,
    workspace,
    agent,
    ask: (input = {}, call = {}) => service.tools.ask_approval(callOf(agent, call), { ...wanted, ...input }),
    /** The first question that waits. */
    async asked() {
      const wait = await service.nextWaiting()
      if (wait.wait !== 'approval') throw new Error('not an approval')
      return wait
    },
  }
}

test('a person sees what the server computed, and the agent gets the yes', async () => {
  const service = open()
  const answer = service.ask({ description: 'So that everybody is greeted.', risk_level: 'high' })

  const asked = await service.asked()
  expect(asked).toMatchObject({
    kind: 'diff',
    status: 'pending',
    title: 'Greet the world',
    description: 'So that everybody is greeted.',
    risk: 'high',
    owner: 'ann',
    agent: 'claude-code',
    answerableBy: 'operator',
    expiresAt: service.clock.now() + 3_600_000,
    supervised: {
      host: 'claude-code',
      returnedAt: null,
      isEdited: false,
      change: { path: 'src/greeting.txt', kind: 'modify', addedLines: 1, removedLines: 1 },
    },
  })
  expect((await service.store.supervised.proposal(asked.id))?.diff).toBe(
    '--- a/src/greeting.txt\n+++ b/src/greeting.txt\n@@ -1 +1 @@\n-Hello\n+Hello, world\n',
  )
  const { approval, run } = await service.approvals.decide(ann, asked.id, { decision: 'approve', reason: 'Nice.' })
  expect([approval.status, approval.decidedBy, approval.decidedVia, run]).toEqual(['approved', 'ann', 'ctl', null])

  expect(await answer).toMatchObject({
    isError: false,
    answer: { status: 'approved', request_id: asked.id, reason: 'Nice.', session_id: asked.sessionId },
  })
  expect(readFileSync(join(service.workspace, 'src/greeting.txt'), 'utf8')).toBe('Hello\n')
  expect(await service.audit()).toMatchObject([
    { kind: 'supervised', what: 'opened' },
    { kind: 'approval_asked', approval: asked.id, risk: 'high', digest: asked.digest, file_path: 'src/greeting.txt' },
    {
      kind: 'decision',
      by: 'ann',
      decision: 'approved',
      digest: asked.digest,
      channel: 'ctl',
      credential: 'token-ann',
    },
  ])
})

test('no, too late and ended are three different answers', async () => {
  const service = open()

  const rejected = service.ask()
  await service.approvals.decide(ann, (await service.asked()).id, { decision: 'reject', reason: 'Not on a Friday.' })
  expect((await rejected).answer).toMatchObject({ status: 'rejected', reason: 'Not on a Friday.' })

  const late = service.ask({ diff: 'Hi\n' }, { limitMs: 10_000_000 })
  await service.asked()
  await service.passTime(3_600_000)
  expect((await late).answer).toMatchObject({ status: 'timeout' })

  const cancelled = service.ask({ diff: 'Ho\n' })
  await service.sessions.terminate(ann, (await service.asked()).sessionId)
  // The session has ended, so its result is an error of the frame or a cancelled question: never a no.
  expect(JSON.stringify(await cancelled)).toContain('cancelled')
})

test('before the host gives up, the agent is told to ask again by id, and gets the same answer each time', async () => {
  const service = open()
  const first = service.ask()
  const { id } = await service.asked()
  await service.passTime(50_000)
  expect((await first).answer).toMatchObject({ status: 'pending', request_id: id, retry_with: { request_id: id } })

  const second = service.tools.ask_approval(callOf(service.agent), { request_id: id })
  await service.approvals.decide(ann, id, { decision: 'approve' })
  expect((await second).answer).toMatchObject({ status: 'approved', request_id: id })
  const third = await service.tools.ask_approval(callOf(service.agent), { request_id: id })
  expect(third.answer).toMatchObject({ status: 'approved', request_id: id })
})

test('the same content attaches to the question that waits, or to an answer that was never returned', async () => {
  const service = open()
  const first = service.ask()
  const { id } = await service.asked()
  await service.passTime(50_000)
  await first
  await service.approvals.decide(ann, id, { decision: 'reject' })

  expect((await service.ask({ title: 'In other words' })).answer).toMatchObject({ status: 'rejected', request_id: id })

  const again = service.ask()
  const next = await service.asked()
  expect(next.id).not.toBe(id)
  await service.approvals.decide(ann, next.id, { decision: 'approve' })
  expect((await again).answer).toMatchObject({ status: 'approved', request_id: next.id })
})

test('a caller that leaves decides nothing, and its answer waits', async () => {
  const service = open()
  const gone = new AbortController()
  const left = service.ask({}, { signal: gone.signal })
  const { id } = await service.asked()
  gone.abort()
  await left
  expect((await service.store.waits.get(id))?.status).toBe('pending')

  await service.approvals.decide(ann, id, { decision: 'approve' })
  expect((await service.ask()).answer).toMatchObject({ status: 'approved', request_id: id })
})

test('a second change waits until the first is answered, and two windows do not wait for each other', async () => {
  const service = open()
  const first = service.ask()
  const { id } = await service.asked()

  expect(await service.ask({ diff: 'Other\n' })).toMatchObject({
    isError: true,
    answer: { error_code: 'approval_pending', request_id: id },
  })
  const other = agentIn(service.workspace, { connectionId: 'window-2' })
  const second = service.tools.ask_approval(callOf(other), wanted)
  for (const wait of await twoOf(service)) await service.approvals.decide(ann, wait.id, { decision: 'approve' })
  expect([(await first).answer.status, (await second).answer.status]).toEqual(['approved', 'approved'])
})

async function twoOf({ waiting }: Pick<ReturnType<typeof open>, 'waiting'>) {
  for (;;) {
    const found = await waiting()
    if (found.length === 2) return found
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
}

test.each([
  [{ title: ' ' }, 'invalid_input'],
  [{ file_path: '' }, 'invalid_input'],
  [{ diff: undefined }, 'invalid_input'],
  [{ risk_level: 'none' }, 'invalid_input'],
  [{ file_path: '../outside.txt' }, 'path_violation'],
  [{ file_path: '/etc/passwd' }, 'path_violation'],
  [{ file_path: 'a\0b' }, 'path_violation'],
  [{ diff: '--- a/other.txt\n+++ b/other.txt\n@@ -1 +1 @@\n-a\n+b\n' }, 'invalid_diff'],
  [{ diff: 'Hello\n' }, 'invalid_diff'],
  [{ diff: 'x'.repeat(5 * 1024 * 1024 + 1) }, 'invalid_diff'],
  [{ diff: '--- a/src/greeting.txt\n+++ b/src/greeting.txt\n@@ -1 +1 @@\n-Bye\n+Hi\n' }, 'patch_conflict'],
  [{ request_id: 'nope' }, 'request_not_found'],
  [{ request_id: '0192f3a1-7b2c-7def-8abc-0123456789ab' }, 'request_not_found'],
])('bad input %# is a clear error, and nobody is asked', async (input, code) => {
  const service = open()

  const { isError, answer } = await service.ask(input)

  expect([isError, answer.error_code]).toEqual([true, code])
  expect(await service.waiting()).toEqual([])
})

test('ids of another owner or another workspace do not exist', async () => {
  const service = open()
  const first = service.ask()
  const { id } = await service.asked()
  const others = [
    agentIn(service.workspace, { owner: 'eve', tokenId: 'token-eve' }),
    agentIn(makeWorkspace(), { tokenId: 'other', connectionId: 'window-3' }),
  ]
  for (const agent of others) {
    const { answer } = await service.tools.ask_approval(callOf(agent), { request_id: id })
    expect(answer.error_code).toBe('request_not_found')
  }
  await service.approvals.decide(ann, id, { decision: 'reject' })
  await first
})

test.each([
  ['a protected path', { file_path: '.github/workflows/ci.yml', diff: 'on: push\n' }],
  ['hidden text', { diff: 'Hello\u202e\n' }],
  ['the agent itself', { risk_level: 'critical' }],
])('%s makes a change critical', async (_why, input) => {
  const service = open()
  const answer = service.ask(input)
  const { id, risk } = await service.asked()

  expect(risk).toBe('critical')
  await service.approvals.decide(ann, id, { decision: 'reject' })
  await answer
})

test('titles and descriptions are visible, of limited length, and never cut in silence', async () => {
  const service = open()
  const answer = service.ask({ title: `a\u202eb\n${'x'.repeat(400)}`, description: `c\u202ed\n${'y'.repeat(9_000)}` })
  const { id, title, description } = await service.asked()

  expect(title.startsWith('a<U+202E>b\\nxxx')).toBe(true)
  expect([title.length <= 200, title.endsWith(' characters in all)')]).toEqual([true, true])
  expect(description.startsWith('c<U+202E>d\nyyy')).toBe(true)
  expect([description.length <= 4_000, description.endsWith(' characters in all)')]).toEqual([true, true])
  await service.approvals.decide(ann, id, { decision: 'reject' })
  await answer
})

const policy = (values: object) => JSON.stringify({ enabled: true, ...values })

test('a policy file counts after an operator’s yes, and is asked about once for each text', async () => {
  const text = policy({ file_patterns: { write: ['src/**'] } })
  const service = open({ 'src/greeting.txt': 'Hello\n', '.quarterdeck/policy.json': text })
  const first = service.ask()
  const waits = await twoOf(service)
  const pin = waits.find((one) => one.wait === 'approval' && one.kind === 'policy')
  const diff = waits.find((one) => one.wait === 'approval' && one.kind === 'diff')
  expect(pin).toMatchObject({ risk: 'critical', title: 'Accept the policy .quarterdeck/policy.json' })
  expect((await service.store.supervised.proposal(pin?.id ?? ''))?.diff).toContain('+++ b/.quarterdeck/policy.json')
  await service.approvals.decide(ann, diff?.id ?? '', { decision: 'reject' })
  await first
  await service.approvals.decide(ann, pin?.id ?? '', { decision: 'approve' })
  expect(await service.store.supervised.pin(service.workspace)).toMatchObject({ text, by: 'ann' })

  const allowed = await service.ask({ diff: 'Hi\n' })

  expect(allowed.answer).toMatchObject({ status: 'approved', matched_rule: 'file_pattern:write:src/**' })
  expect(await service.store.waits.get(String(allowed.answer.request_id))).toMatchObject({
    status: 'approved',
    decidedBy: 'policy',
  })
  expect((await service.audit()).at(-1)).toMatchObject({
    kind: 'auto_approved',
    tool: 'ask_approval',
    file_path: 'src/greeting.txt',
    risk: 'low',
    rule: 'file_pattern:write:src/**',
  })
  const critical = service.ask({ diff: 'Hi\u202e\n' })
  const asked = await service.asked()
  await service.approvals.decide(ann, asked.id, { decision: 'reject' })
  expect((await critical).answer.status).toBe('rejected')
  expect(
    (await service.store.waits.list({ wait: 'approval', limit: 50 })).filter(
      (one) => one.wait === 'approval' && one.kind === 'policy',
    ),
  ).toHaveLength(1)
})

test('a remembered yes lets the like be written without a card', async () => {
  const service = open()
  const first = service.ask({ file_path: 'src/greeting.txt', diff: 'Hi\n' })
  const { id, matches = [], risk } = await service.asked()
  expect([risk, matches[0]]).toEqual(['low', { type: 'writes', pattern: 'src/greeting.txt' }])
  await service.approvals.decide(ann, id, { decision: 'approve', remember: { scope: 'session' } })
  await first

  const { answer } = await service.ask({ file_path: 'src/greeting.txt', diff: 'Hey\n' })
  expect(answer).toMatchObject({ status: 'approved' })
  expect(await service.store.waits.get(String(answer.request_id))).toMatchObject({
    status: 'approved',
    decidedBy: 'ann',
    decidedVia: 'grant',
  })
  expect((await service.audit()).at(-1)).toMatchObject({ kind: 'grant_used', effect: 'allow', by: 'ann' })
  expect(await service.waiting()).toEqual([])
})

test('a remembered no refuses the like without a card', async () => {
  const service = open()
  const first = service.ask({ file_path: 'src/greeting.txt', diff: 'Hi\n' })
  const { id } = await service.asked()
  await service.approvals.decide(ann, id, { decision: 'reject', remember: { scope: 'session' } })
  await first

  expect((await service.ask({ file_path: 'src/greeting.txt', diff: 'Hey\n' })).answer).toMatchObject({
    status: 'rejected',
    reason: 'Changes like this one were refused in advance.',
  })
  expect(await service.waiting()).toEqual([])
})

test('work that the policy let through is summed up in the log at its interval', async () => {
  const text = policy({ tools: ['ask_approval'], summary_interval_seconds: 60 })
  const service = open({ 'a.txt': 'a', '.quarterdeck/policy.json': text })
  const first = service.ask({ file_path: 'a.txt' })
  for (const wait of await twoOf(service)) await service.approvals.decide(ann, wait.id, { decision: 'approve' })
  await first

  const { answer } = await service.ask({ file_path: 'a.txt', diff: 'c' })
  await service.ask({ file_path: 'a.txt', diff: 'd' })
  await service.passTime(60_000)
  await service.autoApproved.close()

  const summaries = async () =>
    (await service.events(String(answer.session_id))).filter(({ activityType }) => activityType === 'auto_approved')
  for (let n = 0; n === 0; n = (await summaries()).length) await new Promise<void>((done) => void setImmediate(done))
  expect(await summaries()).toMatchObject([{ content: { summary: expect.stringContaining('2 requests') } }])
})

test('check_auto_approve says the same and grants nothing', async () => {
  const text = policy({ commands: ['npm test'], file_patterns: { write: ['src/**'], read: [] } })
  const service = open(
    { 'src/greeting.txt': 'Hello\n', '.quarterdeck/policy.json': text },
    { allowlist: [['npm', 'test']] },
  )
  const check = async (context: object, tool_name = 'Write') =>
    (await service.tools.check_auto_approve(callOf(service.agent), { tool_name, context })).answer
  expect(await check({ file_path: 'src/a.ts' })).toMatchObject({ auto_approved: false, matched_rule: null })
  await service.approvals.decide(ann, (await service.asked()).id, { decision: 'approve' })

  expect(await check({ file_path: 'src/a.ts' })).toMatchObject({
    auto_approved: true,
    matched_rule: 'file_pattern:write:src/**',
  })
  expect(await check({ command: 'npm test' }, 'Bash')).toMatchObject({
    auto_approved: true,
    matched_rule: 'command:npm test',
  })
  expect(await check({ command: 'npm test; rm -rf /' }, 'Bash')).toMatchObject({ auto_approved: false })
  expect(await check({ command: 'git status' }, 'Bash')).toMatchObject({
    auto_approved: true,
    matched_rule: null,
    why: expect.stringMatching(/^Nobody is asked: it /),
  })
  expect(await check({ file_path: 'src/greeting.txt' }, 'Read')).toMatchObject({ auto_approved: true })
  expect(await check({ file_path: '.env' }, 'Read')).toMatchObject({ auto_approved: false })
  expect(await check({ file_path: 'src/a.ts', risk_level: 'critical' })).toMatchObject({ auto_approved: false })
  expect(await check({ file_path: '../a.ts' })).toMatchObject({ auto_approved: false })
  expect(await check({ file_path: 'src/a.ts', risk_level: 'none' })).toMatchObject({ error_code: 'invalid_input' })
  expect(await service.waiting()).toEqual([])
})

test('an unreadable policy allows nothing, and the log and the chat room say so once', async () => {
  const service = open({ 'src/greeting.txt': 'Hello\n', '.quarterdeck/policy.json': '{' })
  const check = () => service.tools.check_auto_approve(callOf(service.agent), { tool_name: 'Read' })
  await check()
  const { answer } = await check()

  expect(answer.auto_approved).toBe(false)
  const events = await service.events(String(answer.session_id))
  expect(events.filter(({ activityType }) => activityType === 'policy_warning')).toHaveLength(1)
  expect(service.told).toEqual([expect.stringContaining('.quarterdeck/policy.json cannot be used')])
})

test.each([
  ['{"scripts":{"test":"vitest"},"dependencies":{"a":"2"}}', 'high', []],
  ['{"scripts":{"test":"./x.sh"},"dependencies":{"a":"1"}}', 'critical', [{ type: 'writes', pattern: 'package.json' }]],
])('package.json as %s is %s: only what is run is protected, and the change is known', async (diff, risk, offered) => {
  const service = open({ 'package.json': '{"scripts":{"test":"vitest"},"dependencies":{"a":"1"}}' })
  const answer = service.ask({ file_path: 'package.json', diff })
  const asked = await service.asked()
  expect([asked.risk, asked.matches]).toEqual([risk, offered])
  await service.approvals.decide(ann, asked.id, { decision: 'reject' })
  await answer
})
