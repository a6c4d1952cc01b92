import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ApprovalRule } from '../../domain/agent/approval-rule.ts'
import type { Risk } from '../../domain/agent/tool-settings.ts'
import { createSystemClock } from '../../domain/clock.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import { policyVersion } from '../policy/apply-policy.ts'
import { createRealPath } from '../policy/real-path.ts'
import { createAssessWork } from '../risk/assess-work.ts'
import { gatedCall, policyRule } from '../testing/gated-call.ts'
import { createCallRules, type RuledCall } from './call-rules.ts'

const versionOf = ({ agent, tool }: RuledCall) => policyVersion(agent.approval, tool)

const grant: Grant = {
  id: 'g1',
  agent: 'helper',
  tool: 'send_email',
  where: { to: { matches: '*@example.com' } },
  sessionId: null,
  grantedBy: 'olga',
  approvalId: 'a1',
  policyVersion: versionOf(gatedCall()),
  createdAt: 0,
  expiresAt: null,
}

const assess = createAssessWork({ serverPaths: [], home: '/home/ann' })
const usual = { realPath: createRealPath, clock: createSystemClock(), assess }
const rulesWith = (...grants: Grant[]) => createCallRules({ ...usual, grants: { list: async () => grants } })

describe('the rules', () => {
  test("use the agent's rule if the tool has none, and give the question", async () => {
    const call = gatedCall({ arguments: { to: 'ann@example.com', text: 'Hi' }, now: 5_000 })
    expect(await rulesWith().judge(call)).toEqual({
      verdict: 'ask',
      policyVersion: policyVersion(call.agent.approval, call.tool),
      risk: 'high',
      answerableBy: 'operator',
      expiresAt: 3_605_000,
      title: 'Call send_email',
      description: 'to: ann@example.com\ntext: Hi',
      action: null,
      toolSays: 'Sends an e-mail.',
    })
  })

  test("use the tool's own rule before the agent's", async () => {
    const never = gatedCall({ tool: { approval: { ask: 'never' } }, approval: { default: { ask: 'always' } } })
    expect(await rulesWith().judge(never)).toEqual({ verdict: 'run', grant: null })
    const always = gatedCall({
      tool: { approval: { ask: 'always' }, risk: 'low' },
      approval: { default: { ask: 'never' } },
    })
    expect(await rulesWith().judge(always)).toMatchObject({ verdict: 'ask' })
  })

  test('refuse what the policy refuses, even if it was granted', async () => {
    const call = gatedCall({
      approval: { default: { ask: 'policy' }, policy: [policyRule(['send_*'], null, 'refuse')] },
    })
    expect(await rulesWith(grant).judge(call)).toEqual({
      verdict: 'refuse',
      reason: 'the policy of helper refuses send_email with these arguments.',
    })
  })

  test.each([
    ['low', 'owner', 'owner'],
    ['low', 'operator', 'operator'],
    ['high', 'owner', 'owner'],
    ['high', 'operator', 'operator'],
    ['critical', 'owner', 'operator'],
  ] as const)('at risk %s, where the agent says %s, answerable by %s', async (risk, by, answerableBy) => {
    const call = gatedCall({ tool: { risk, approval: { ask: 'always' } }, approval: { by } })
    expect(await rulesWith().judge(call)).toMatchObject({ verdict: 'ask', answerableBy })
  })
})

describe('a call with invisible characters', () => {
  const hidden = { to: 'ann@example.com', text: 'Hi\u202e' }

  test('has risk critical: an operator is asked, and no grant allows it', async () => {
    const call = gatedCall({ tool: { risk: 'low' }, approval: { by: 'owner' }, arguments: hidden })
    expect(await rulesWith({ ...grant, where: {}, policyVersion: versionOf(call) }).judge(call)).toMatchObject({
      verdict: 'ask',
      risk: 'critical',
      answerableBy: 'operator',
      description: 'to: ann@example.com\ntext: Hi<U+202E>',
    })
  })

  test('runs if the rule says so', async () => {
    const call = gatedCall({ tool: { approval: { ask: 'never' } }, arguments: hidden })
    expect(await rulesWith().judge(call)).toEqual({ verdict: 'run', grant: null })
  })

  test('line breaks, spaces and emoji hide nothing', async () => {
    const call = gatedCall({ tool: { risk: 'low' }, arguments: { text: 'Dear Ann,\n\tthanks\u00a0! ❤️ 👩‍💻' } })
    expect(await rulesWith().judge(call)).toEqual({ verdict: 'run', grant: null })
  })
})

describe('the shell of an agent of ours', () => {
  const shell = (command: unknown, risk: Risk = 'low', name = 'bash') =>
    rulesWith().judge(gatedCall({ tool: { name, risk, roots: ['/data'] }, arguments: { command } }))

  test.each([
    ['git push', 'low', 'high', 'pushes to a remote'],
    ['sudo rm -rf /', 'low', 'critical', expect.any(String)],
    [['rm', "it's"], 'low', 'high', expect.any(String)],
    // What its author said is not lowered, and needs no other reason.
    ['ls', 'high', 'high', undefined],
  ] as const)('asks about %j, which its author calls %s, at risk %s', async (command, risk, earned, riskWhy) => {
    const verdict = await shell(command, risk)

    expect(verdict).toMatchObject({ verdict: 'ask', risk: earned })
    expect('riskWhy' in verdict ? verdict.riskWhy : undefined).toEqual(riskWhy)
  })

  test('runs what is harmless, and a tool that is no shell is not looked into', async () => {
    expect(await shell('ls')).toEqual({ verdict: 'run', grant: null })
    expect(await shell('git push', 'low', 'note')).toEqual({ verdict: 'run', grant: null })
  })
})

describe('paths', () => {
  const isSecret: ApprovalRule = { ask: 'when', any: [{ path: { matches: '*.env' } }], otherwise: 'run' }
  const links: Record<string, string> = { '/data/notes/plain.txt': '/data/conf/x.env' }
  const rules = createCallRules({
    ...usual,
    grants: { list: async () => [{ ...grant, where: { path: { matches: 'notes/*' } } }] },
    realPath: () => (path) => links[resolve(path)] ?? resolve(path),
  })
  const judge = async (path: unknown, tool: Partial<RuledCall['tool']> = {}) =>
    (await rules.judge(gatedCall({ tool: { roots: ['/data'], ...tool }, arguments: { path } }))).verdict

  test.each([
    'x.env',
    './x.env',
    'conf/x.env',
    'conf/../x.env',
    '/etc/x.env',
    'notes/plain.txt',
    '~/x.env',
    ['a', 'x.env'],
  ])('the rule about *.env asks about %j', async (path) => {
    expect(await judge(path, { approval: isSecret, risk: 'low' })).toBe('ask')
  })

  test('a path that the rule does not match runs', async () => {
    expect(await judge('conf/x.txt', { approval: isSecret })).toBe('run')
  })

  test("start in the tool's own folders, or else in the agent's", async () => {
    const approval: ApprovalRule = { ask: 'when', any: [{ path: { matches: '/data/**' } }], otherwise: 'run' }
    expect([
      await judge('x', { approval }),
      (await rules.judge(gatedCall({ tool: { approval }, arguments: { path: 'x' } }))).verdict,
    ]).toEqual(['ask', 'run'])
  })

  test('a grant for a folder allows paths that lead there, and no others', async () => {
    const verdicts: string[] = []
    for (const path of [
      'notes/a',
      './notes/../notes/a',
      'notes/plain.txt',
      'notes/../conf/a',
      '/notes/a',
      'notes/~?',
    ]) {
      verdicts.push(await judge(path))
    }
    expect(verdicts).toEqual(['run', 'run', 'ask', 'ask', 'ask', 'ask'])
  })
})

describe('a grant', () => {
  test('of an agent elsewhere with the same name neither allows nor refuses', async () => {
    const elsewhere = {
      workspaceRoot: '/srv/shop',
      owner: 'ann',
      match: { type: 'tool', tool: 'send_email' },
      risk: 'high',
    } as const
    const asks = { verdict: 'ask' }
    expect(await rulesWith({ ...grant, where: {}, elsewhere }).judge(gatedCall())).toMatchObject(asks)
    expect(await rulesWith({ ...grant, where: {}, elsewhere, effect: 'refuse' }).judge(gatedCall())).toMatchObject(asks)
  })

  test('lets a similar call run, and is named', async () => {
    expect(await rulesWith(grant).judge(gatedCall())).toEqual({ verdict: 'run', grant: 'g1' })
    expect(await rulesWith({ ...grant, sessionId: 's1', expiresAt: 1_001 }).judge(gatedCall())).toEqual({
      verdict: 'run',
      grant: 'g1',
    })
  })

  test.each<[string, Partial<Grant>]>([
    ['other arguments', { where: { to: { equals: 'bob@example.com' } } }],
    ['another tool', { tool: 'send_fax' }],
    ['another agent', { agent: 'other' }],
    ['another session', { sessionId: 's2' }],
    ['a time that is over', { expiresAt: 1_000 }],
    ['a tool that has changed since', { policyVersion: 'another' }],
    ['a condition nobody can read', { where: JSON.parse('{"to":{"resembles":"x"}}') }],
  ])('for %s allows nothing', async (_, change) => {
    expect(await rulesWith({ ...grant, ...change }).judge(gatedCall())).toMatchObject({ verdict: 'ask' })
  })

  test('never allows a critical call', async () => {
    const call = gatedCall({ tool: { risk: 'critical' } })
    expect(await rulesWith({ ...grant, where: {} }).judge(call)).toMatchObject({ verdict: 'ask' })
  })

  test('is looked up for the agent, the session and the time of the call', async () => {
    const asked: unknown[] = []
    const list = async (query: unknown) => {
      asked.push(query)
      return []
    }
    const rules = createCallRules({ ...usual, grants: { list } })
    await rules.judge(gatedCall({ sessionId: 's7', now: 9 }))
    await rules.judge(gatedCall({ tool: { approval: { ask: 'never' } } }))
    // Also for a call that would run: a person may have refused it in advance.
    expect(asked).toEqual([
      { agent: 'helper', sessionId: 's7', now: 9 },
      { agent: 'helper', sessionId: 's1', now: 1_000 },
    ])
  })
})

describe('a refusal in advance', () => {
  const refusal: Grant = { ...grant, id: 'no', effect: 'refuse' }

  test('refuses similar calls, also those that would run and those that are granted, and says that a person did', async () => {
    const verdict = {
      verdict: 'refuse',
      reason: 'a person refused calls like this one in advance. Do not send it again unless you are asked to.',
    }
    expect(await rulesWith(refusal).judge(gatedCall())).toEqual(verdict)
    expect(await rulesWith(grant, refusal).judge(gatedCall())).toEqual(verdict)
    expect(await rulesWith(refusal).judge(gatedCall({ tool: { approval: { ask: 'never' } } }))).toEqual(verdict)
    const other = gatedCall({ arguments: { to: 'bob@elsewhere.org' } })
    expect(await rulesWith(refusal).judge(other)).toMatchObject({ verdict: 'ask' })
  })

  test('stays when the tool changes, and holds when its conditions cannot be read', async () => {
    const changed = gatedCall({ tool: { binding: 'b' } })
    expect(await rulesWith(refusal).judge(changed)).toMatchObject({ verdict: 'refuse' })
    const unreadable = { ...refusal, where: { to: { like: 'x' } } as unknown as Grant['where'] }
    expect(await rulesWith(unreadable).judge(gatedCall())).toMatchObject({ verdict: 'refuse' })
  })
})

describe("a tool's own opinion", () => {
  const needs = (said: unknown, more: Partial<RuledCall['tool']> = {}) =>
    gatedCall({ tool: { needsApproval: async () => said as boolean, ...more } })

  test('asks where the rules would not, with its risk and its reason', async () => {
    const low = { risk: 'low' as const, approval: { ask: 'never' as const } }
    expect(await rulesWith().judge(needs(true, low))).toMatchObject({ verdict: 'ask', risk: 'low' })
    expect(await rulesWith().judge(needs({ risk: 'critical', reason: 'It goes\u202e out.' }, low))).toMatchObject({
      verdict: 'ask',
      risk: 'critical',
      answerableBy: 'operator',
      description: 'It goes<U+202E> out.\nto: ann@example.com',
    })
  })

  test('overrules the risk, and no other rule', async () => {
    expect(await rulesWith().judge(needs(false))).toEqual({ verdict: 'run', grant: null })
    for (const approval of [{ ask: 'always' as const }, { ask: 'policy' as const }]) {
      expect(await rulesWith().judge(needs(false, { approval }))).toMatchObject({ verdict: 'ask' })
    }
    expect(await rulesWith().judge(needs(false, { risk: 'critical' }))).toMatchObject({ verdict: 'ask' })
  })

  test.each([
    ['throws', () => Promise.reject(new Error('broken'))],
    ['says nothing clear', async () => 'no' as unknown as boolean],
    ['names a risk that does not exist', async () => ({ risk: 'none' }) as unknown as boolean],
  ])('that %s asks a person', async (_what, needsApproval) => {
    const call = gatedCall({ tool: { approval: { ask: 'never' }, risk: 'low', needsApproval } })
    expect(await rulesWith().judge(call)).toMatchObject({
      verdict: 'ask',
      description: 'The tool could not say whether this call needs an approval.\nto: ann@example.com',
    })
  })

  test('that takes too long asks a person, and a preview that does is left out', async () => {
    // Every timer fires at once.
    const after = (_ms: number, fire: () => void) => {
      queueMicrotask(fire)
      return () => {}
    }
    const clock = { ...createSystemClock(), after }
    const rules = createCallRules({ ...usual, grants: { list: async () => [] }, clock })
    const never = () => new Promise<never>(() => {})
    const call = gatedCall({ tool: { risk: 'low', needsApproval: never, preview: never } })
    expect(await rules.judge(call)).toMatchObject({
      verdict: 'ask',
      preview: 'no preview: It took longer than 5 s.',
    })
  })
})

describe('what a person is shown', () => {
  const judge = (tool: Partial<RuledCall['tool']>) => rulesWith().judge(gatedCall({ tool }))

  test('is what the call will do, with a preview of the tool, without hidden characters', async () => {
    const tool = {
      action: ({ to }: Record<string, unknown>) => `POST https://mail.example.com/${String(to)}\u200b`,
      preview: async () => '- old\n+ new\u202e',
    }
    expect(await judge(tool)).toMatchObject({
      title: 'send_email: POST https://mail.example.com/ann@example.com<U+200B>',
      action: 'POST https://mail.example.com/ann@example.com<U+200B>',
      preview: '- old\n+ new<U+202E>',
    })
  })

  test('is bounded, and says what is missing', async () => {
    expect(await judge({ preview: async () => 'x'.repeat(20_010) })).toMatchObject({
      preview: `${'x'.repeat(20_000)}… (10 more characters)`,
    })
    expect(await judge({ preview: () => Promise.reject(new Error('No file.')) })).toMatchObject({
      preview: 'no preview: No file.',
    })
    const broken = () => {
      throw new Error('The argument to is missing.')
    }
    expect(await judge({ action: broken })).toMatchObject({ title: 'Call send_email' })
  })
})
