import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentIn, ann, callOf, openDesk } from '../testing/open-desk.ts'
import { makeWorkspace } from '../testing/workspace.ts'

const wanted = { title: 'Greet the world', diff: 'Hello, world\n', file_path: 'src/greeting.txt' }

function open(
  files: Record<string, string> = { 'src/greeting.txt': 'Hello\n' },
  options: Parameters<typeof openDesk>[0] = {},
) {
  const workspace = makeWorkspace(files)
  const desk = openDesk(options)
  const agent = agentIn(workspace)
  return {
    ...desk,
    workspace,
    agent,
    ask: (input = {}, call = {}) => desk.tools.ask_approval(callOf(agent, call), { ...wanted, ...input }),
    /** The first question that waits. */
    async asked() {
      const wait = await desk.nextWaiting()
      if (wait.wait !== 'approval') throw new Error('not an approval')
      return wait
    },
  }
}

test('a person sees what the server computed, and the agent gets the yes', async () => {
  const desk = open()
  const answer = desk.ask({ description: 'So that everybody is greeted.', risk_level: 'high' })

  const asked = await desk.asked()
  expect(asked).toMatchObject({
    kind: 'diff',
    status: 'pending',
    title: 'Greet the world',
    description: 'So that everybody is greeted.',
    risk: 'high',
    owner: 'ann',
    agent: 'claude-code',
    answerableBy: 'operator',
    expiresAt: desk.clock.now() + 3_600_000,
    supervised: {
      host: 'claude-code',
      returnedAt: null,
      isEdited: false,
      change: { path: 'src/greeting.txt', kind: 'modify', addedLines: 1, removedLines: 1 },
    },
  })
  expect((await desk.store.supervised.proposal(asked.id))?.diff).toBe(
    '--- a/src/greeting.txt\n+++ b/src/greeting.txt\n@@ -1 +1 @@\n-Hello\n+Hello, world\n',
  )
  const { approval, run } = await desk.approvals.decide(ann, asked.id, { decision: 'approve', reason: 'Nice.' })
  expect([approval.status, approval.decidedBy, approval.decidedVia, run]).toEqual(['approved', 'ann', 'ctl', null])

  expect(await answer).toMatchObject({
    isError: false,
    answer: { status: 'approved', request_id: asked.id, reason: 'Nice.', session_id: asked.sessionId },
  })
  expect(readFileSync(join(desk.workspace, 'src/greeting.txt'), 'utf8')).toBe('Hello\n')
  expect(await desk.audit()).toMatchObject([
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
  const desk = open()

  const rejected = desk.ask()
  await desk.approvals.decide(ann, (await desk.asked()).id, { decision: 'reject', reason: 'Not on a Friday.' })
  expect((await rejected).answer).toMatchObject({ status: 'rejected', reason: 'Not on a Friday.' })

  const late = desk.ask({ diff: 'Hi\n' }, { limitMs: 10_000_000 })
  await desk.asked()
  await desk.passTime(3_600_000)
  expect((await late).answer).toMatchObject({ status: 'timeout' })

  const cancelled = desk.ask({ diff: 'Ho\n' })
  await desk.sessions.terminate(ann, (await desk.asked()).sessionId)
  // The session has ended, so its result is an error of the frame or a cancelled question: never a no.
  expect(JSON.stringify(await cancelled)).toContain('cancelled')
})

test('before the host gives up, the agent is told to ask again by id, and gets the same answer each time', async () => {
  const desk = open()
  const first = desk.ask()
  const { id } = await desk.asked()
  await desk.passTime(50_000)
  expect((await first).answer).toMatchObject({ status: 'pending', request_id: id, retry_with: { request_id: id } })

  const second = desk.tools.ask_approval(callOf(desk.agent), { request_id: id })
  await desk.approvals.decide(ann, id, { decision: 'approve' })
  expect((await second).answer).toMatchObject({ status: 'approved', request_id: id })
  const third = await desk.tools.ask_approval(callOf(desk.agent), { request_id: id })
  expect(third.answer).toMatchObject({ status: 'approved', request_id: id })
})

test('the same content attaches to the question that waits, or to an answer that was never returned', async () => {
  const desk = open()
  const first = desk.ask()
  const { id } = await desk.asked()
  await desk.passTime(50_000)
  await first
  await desk.approvals.decide(ann, id, { decision: 'reject' })

  expect((await desk.ask({ title: 'In other words' })).answer).toMatchObject({ status: 'rejected', request_id: id })

  const again = desk.ask()
  const next = await desk.asked()
  expect(next.id).not.toBe(id)
  await desk.approvals.decide(ann, next.id, { decision: 'approve' })
  expect((await again).answer).toMatchObject({ status: 'approved', request_id: next.id })
})

test('a caller that leaves decides nothing, and its answer waits', async () => {
  const desk = open()
  const gone = new AbortController()
  const left = desk.ask({}, { signal: gone.signal })
  const { id } = await desk.asked()
  gone.abort()
  await left
  expect((await desk.store.waits.get(id))?.status).toBe('pending')

  await desk.approvals.decide(ann, id, { decision: 'approve' })
  expect((await desk.ask()).answer).toMatchObject({ status: 'approved', request_id: id })
})

test('a second change waits until the first is answered, and two windows do not wait for each other', async () => {
  const desk = open()
  const first = desk.ask()
  const { id } = await desk.asked()

  expect(await desk.ask({ diff: 'Other\n' })).toMatchObject({
    isError: true,
    answer: { error_code: 'approval_pending', request_id: id },
  })
  const other = agentIn(desk.workspace, { connectionId: 'window-2' })
  const second = desk.tools.ask_approval(callOf(other), wanted)
  for (const wait of await twoOf(desk)) await desk.approvals.decide(ann, wait.id, { decision: 'approve' })
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
  const desk = open()

  const { isError, answer } = await desk.ask(input)

  expect([isError, answer.error_code]).toEqual([true, code])
  expect(await desk.waiting()).toEqual([])
})

test('ids of another owner or another workspace do not exist', async () => {
  const desk = open()
  const first = desk.ask()
  const { id } = await desk.asked()
  const others = [
    agentIn(desk.workspace, { owner: 'eve', tokenId: 'token-eve' }),
    agentIn(makeWorkspace(), { tokenId: 'other', connectionId: 'window-3' }),
  ]
  for (const agent of others) {
    const { answer } = await desk.tools.ask_approval(callOf(agent), { request_id: id })
    expect(answer.error_code).toBe('request_not_found')
  }
  await desk.approvals.decide(ann, id, { decision: 'reject' })
  await first
})

test.each([
  ['a protected path', { file_path: '.github/workflows/ci.yml', diff: 'on: push\n' }],
  ['hidden text', { diff: 'Hello\u202e\n' }],
  ['the agent itself', { risk_level: 'critical' }],
])('%s makes a change critical', async (_why, input) => {
  const desk = open()
  const answer = desk.ask(input)
  const { id, risk } = await desk.asked()

  expect(risk).toBe('critical')
  await desk.approvals.decide(ann, id, { decision: 'reject' })
  await answer
})

test('titles and descriptions are visible, of limited length, and never cut in silence', async () => {
  const desk = open()
  const answer = desk.ask({ title: `a\u202eb\n${'x'.repeat(400)}`, description: `c\u202ed\n${'y'.repeat(9_000)}` })
  const { id, title, description } = await desk.asked()

  expect(title.startsWith('a<U+202E>b\\nxxx')).toBe(true)
  expect([title.length <= 200, title.endsWith(' characters in all)')]).toEqual([true, true])
  expect(description.startsWith('c<U+202E>d\nyyy')).toBe(true)
  expect([description.length <= 4_000, description.endsWith(' characters in all)')]).toEqual([true, true])
  await desk.approvals.decide(ann, id, { decision: 'reject' })
  await answer
})

const policy = (values: object) => JSON.stringify({ enabled: true, ...values })

test('a policy file counts after an operator’s yes, and is asked about once for each text', async () => {
  const text = policy({ file_patterns: { write: ['src/**'] } })
  const desk = open({ 'src/greeting.txt': 'Hello\n', '.quarterdeck/policy.json': text })
  const first = desk.ask()
  const waits = await twoOf(desk)
  const pin = waits.find((one) => one.wait === 'approval' && one.kind === 'policy')
  const diff = waits.find((one) => one.wait === 'approval' && one.kind === 'diff')
  expect(pin).toMatchObject({ risk: 'critical', title: 'Accept the policy .quarterdeck/policy.json' })
  expect((await desk.store.supervised.proposal(pin?.id ?? ''))?.diff).toContain('+++ b/.quarterdeck/policy.json')
  await desk.approvals.decide(ann, diff?.id ?? '', { decision: 'reject' })
  await first
  await desk.approvals.decide(ann, pin?.id ?? '', { decision: 'approve' })
  expect(await desk.store.supervised.pin(desk.workspace)).toMatchObject({ text, by: 'ann' })

  const allowed = await desk.ask({ diff: 'Hi\n' })

  expect(allowed.answer).toMatchObject({ status: 'approved', matched_rule: 'file_pattern:write:src/**' })
  expect(await desk.store.waits.get(String(allowed.answer.request_id))).toMatchObject({
    status: 'approved',
    decidedBy: 'policy',
  })
  expect((await desk.audit()).at(-1)).toMatchObject({
    kind: 'auto_approved',
    tool: 'ask_approval',
    file_path: 'src/greeting.txt',
    risk: 'low',
    rule: 'file_pattern:write:src/**',
  })
  const critical = desk.ask({ diff: 'Hi\u202e\n' })
  const asked = await desk.asked()
  await desk.approvals.decide(ann, asked.id, { decision: 'reject' })
  expect((await critical).answer.status).toBe('rejected')
  expect(
    (await desk.store.waits.list({ wait: 'approval', limit: 50 })).filter(
      (one) => one.wait === 'approval' && one.kind === 'policy',
    ),
  ).toHaveLength(1)
})

test('work that the policy let through is summed up in the log at its interval', async () => {
  const text = policy({ tools: ['ask_approval'], summary_interval_seconds: 60 })
  const desk = open({ 'a.txt': 'a', '.quarterdeck/policy.json': text })
  const first = desk.ask({ file_path: 'a.txt' })
  for (const wait of await twoOf(desk)) await desk.approvals.decide(ann, wait.id, { decision: 'approve' })
  await first

  const { answer } = await desk.ask({ file_path: 'a.txt', diff: 'c' })
  await desk.ask({ file_path: 'a.txt', diff: 'd' })
  await desk.passTime(60_000)
  await desk.autoApproved.close()

  const summaries = async () =>
    (await desk.events(String(answer.session_id))).filter(({ activityType }) => activityType === 'auto_approved')
  for (let n = 0; n === 0; n = (await summaries()).length) await new Promise<void>((done) => void setImmediate(done))
  expect(await summaries()).toMatchObject([{ content: { summary: expect.stringContaining('2 requests') } }])
})

test('check_auto_approve says the same and grants nothing', async () => {
  const text = policy({ commands: ['npm test'], file_patterns: { write: ['src/**'], read: [] } })
  const desk = open(
    { 'src/greeting.txt': 'Hello\n', '.quarterdeck/policy.json': text },
    { allowlist: [['npm', 'test']] },
  )
  const check = async (context: object, tool_name = 'Write') =>
    (await desk.tools.check_auto_approve(callOf(desk.agent), { tool_name, context })).answer
  expect(await check({ file_path: 'src/a.ts' })).toMatchObject({ auto_approved: false, matched_rule: null })
  await desk.approvals.decide(ann, (await desk.asked()).id, { decision: 'approve' })

  expect(await check({ file_path: 'src/a.ts' })).toMatchObject({
    auto_approved: true,
    matched_rule: 'file_pattern:write:src/**',
  })
  expect(await check({ command: 'npm test' }, 'Bash')).toMatchObject({
    auto_approved: true,
    matched_rule: 'command:npm test',
  })
  expect(await check({ command: 'npm test; rm -rf /' }, 'Bash')).toMatchObject({ auto_approved: false })
  expect(await check({ file_path: 'src/a.ts', risk_level: 'critical' })).toMatchObject({ auto_approved: false })
  expect(await check({ file_path: '../a.ts' })).toMatchObject({ auto_approved: false })
  expect(await check({ file_path: 'src/a.ts', risk_level: 'none' })).toMatchObject({ error_code: 'invalid_input' })
  expect(await desk.waiting()).toEqual([])
})

test('an unreadable policy allows nothing, and the log and the chat room say so once', async () => {
  const desk = open({ 'src/greeting.txt': 'Hello\n', '.quarterdeck/policy.json': '{' })
  const check = () => desk.tools.check_auto_approve(callOf(desk.agent), { tool_name: 'Read' })
  await check()
  const { answer } = await check()

  expect(answer.auto_approved).toBe(false)
  const events = await desk.events(String(answer.session_id))
  expect(events.filter(({ activityType }) => activityType === 'policy_warning')).toHaveLength(1)
  expect(desk.told).toEqual([expect.stringContaining('.quarterdeck/policy.json cannot be used')])
})
