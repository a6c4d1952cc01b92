import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import {
  comparePolicies,
  type EffectivePolicy,
  effectivePolicy,
  judgeEffective,
  reportingOf,
} from './effective-policy.ts'
import type { FoundPolicy } from './find-policy.ts'
import { judgeRequest } from './judge-request.ts'
import { flatText, limits, nestedText, policies, requests } from './testing/policies.ts'
import { defaultPolicy, type PolicyRequest, type WorkspacePolicy } from './workspace-policy.ts'

const file = '.quarterdeck/policy.json'
const found = (text: string): FoundPolicy => ({ state: 'text', file, text, sha256: hash('sha256', text, 'hex') })
const pin = (text: string) => ({ text, sha256: hash('sha256', text, 'hex') })
const effective = (pinned: WorkspacePolicy, current: WorkspacePolicy) =>
  effectivePolicy(pin(flatText(pinned)), found(flatText(current)))

const on: WorkspacePolicy = { ...defaultPolicy, enabled: true }
const reading: PolicyRequest = { toolName: 'Read', filePath: null, command: null, riskLevel: 'low', guarded: null }
const judge = (policy: EffectivePolicy, request = reading) => judgeEffective(policy, request, limits)

describe('a change of a policy', () => {
  const base: WorkspacePolicy = {
    enabled: true,
    commands: ['npm test'],
    tools: ['Read'],
    filePatterns: { write: ['src/**'], read: ['**'] },
    riskLevelThreshold: 'high',
    logAutoApproved: true,
    summaryIntervalSeconds: 300,
  }

  test.each<[string, Partial<WorkspacePolicy>, 'same' | 'narrower' | 'wider', string[]]>([
    ['nothing', {}, 'same', []],
    ['an entry twice', { tools: ['Read', 'Read'] }, 'same', []],
    ['switched off', { enabled: false, tools: ['Read', 'Bash'] }, 'narrower', []],
    ['a lower threshold', { riskLevelThreshold: 'low' }, 'narrower', []],
    ['a higher threshold', { riskLevelThreshold: 'critical' }, 'wider', ['It covers work of critical risk.']],
    ['fewer commands', { commands: [] }, 'narrower', []],
    ['another command', { commands: ['npm *'] }, 'wider', ['Command: npm *']],
    // It allows less, but nobody has to be able to prove that.
    ['a smaller pattern', { filePatterns: { write: ['src/a.ts'], read: ['**'] } }, 'wider', ['Write files: src/a.ts']],
    ['more tools', { tools: ['Read', 'Bash'] }, 'wider', ['Tool: Bash']],
    ['more to read', { filePatterns: { write: [], read: ['**', 'x'] } }, 'wider', ['Read files: x']],
    ['less detail', { logAutoApproved: false }, 'wider', ['The summary no longer names each piece of work.']],
    ['a rarer summary', { summaryIntervalSeconds: 301 }, 'wider', ['The summary comes less often.']],
    ['no summary', { summaryIntervalSeconds: 0 }, 'wider', ['The summary comes less often.']],
    ['more summaries', { summaryIntervalSeconds: 10 }, 'narrower', []],
  ])('%s', (_name, change, expected, added) => {
    expect(comparePolicies(base, { ...base, ...change })).toMatchObject({ change: expected, added })
  })

  test('from a policy that is off names everything that the new one allows', () => {
    expect(comparePolicies({ ...base, enabled: false }, base).added).toEqual([
      'It is switched on.',
      'It covers work of high risk.',
      'Command: npm test',
      'Tool: Read',
      'Write files: src/**',
      'Read files: **',
    ])
    expect(comparePolicies(base, { ...base, enabled: false }).removed).toContain('Command: npm test')
  })

  test('that is not wider never allows what was not allowed', () => {
    fc.assert(
      fc.property(policies, policies, requests, (pinned, next, request) => {
        const { change } = comparePolicies(pinned, next)
        const before = judgeRequest(pinned, request, limits).autoApproved
        const after = judgeRequest(next, request, limits).autoApproved
        if (change !== 'wider' && after) expect(before).toBe(true)
        if (change === 'same') expect(after).toBe(before)
      }),
      { numRuns: runs(3_000) },
    )
  })
})

describe('what counts of a policy file', () => {
  test('is nothing without a file, with a broken one, and before an operator has accepted it', () => {
    const wide = flatText({ ...on, tools: ['Read'] })
    expect(judge(effectivePolicy(pin(wide), { state: 'none' }))).toMatchObject({
      autoApproved: false,
      why: 'The workspace has no policy file.',
    })
    expect(judge(effectivePolicy(null, found(wide)))).toMatchObject({
      autoApproved: false,
      why: 'No operator has accepted the policy file of this workspace yet.',
    })
    expect(effectivePolicy(pin(wide), { state: 'unreadable', file, reason: 'it is a link.' })).toEqual({
      state: 'unreadable',
      file,
      warning: `${file} cannot be used, so every request needs an approval: it is a link. Try: quarterdeck policy check ${file}`,
    })
    const broken = effectivePolicy(pin(wide), found('{\n"enabled": 1, "x": 2}'))
    expect(broken).toMatchObject({
      warning: expect.stringContaining('line 2: enabled: expected true or false. (and 1 more) Try:'),
    })
    expect(judge(broken).autoApproved).toBe(false)
  })

  test('is nothing if the pinned text can no longer be read', () => {
    expect(effectivePolicy(pin('{"old": 1}'), found('{"enabled": true}'))).toMatchObject({ state: 'unpinned' })
  })

  test('is the pinned text as long as nothing changes, in either spelling', () => {
    const policy = { ...on, tools: ['Read'] }
    expect(judge(effective(policy, policy))).toMatchObject({ autoApproved: true, matchedRule: 'tool:Read' })
    const other = effectivePolicy(pin(flatText(policy)), found(nestedText(policy)))
    expect(other).toMatchObject({ state: 'pinned', change: { change: 'same' } })
    expect(judge(other).autoApproved).toBe(true)
  })

  test('narrows at once and widens only after a yes', () => {
    const policy = { ...on, tools: ['Read'] }
    expect(judge(effective(policy, { ...policy, tools: [] })).autoApproved).toBe(false)
    expect(judge(effective({ ...policy, tools: [] }, policy))).toEqual({
      autoApproved: false,
      matchedRule: null,
      why: 'The policy file was changed, and no operator has accepted the change yet.',
      personOnly: false,
    })
    const mixed = effective({ ...on, tools: ['Read', 'Write'] }, { ...on, tools: ['Read', 'Bash'] })
    expect(['Read', 'Write', 'Bash'].map((toolName) => judge(mixed, { ...reading, toolName }).autoApproved)).toEqual([
      true,
      false,
      false,
    ])
  })

  test('never allows what the pinned text or the text on the disk does not allow', () => {
    fc.assert(
      fc.property(policies, policies, requests, (pinned, current, request) => {
        const both = [pinned, current].every((policy) => judgeRequest(policy, request, limits).autoApproved)
        expect(judge(effective(pinned, current), request).autoApproved).toBe(both)
      }),
      { numRuns: runs(3_000) },
    )
  })

  test('is reported as closely as either text asks for', () => {
    const [often, rarely] = [
      { ...on, summaryIntervalSeconds: 60, logAutoApproved: true },
      { ...on, summaryIntervalSeconds: 0, logAutoApproved: false },
    ]
    for (const both of [effective(often, rarely), effective(rarely, often)]) {
      expect(reportingOf(both)).toEqual({ logAutoApproved: true, summaryIntervalSeconds: 60 })
    }
    expect(reportingOf(effective(rarely, rarely))).toEqual({ logAutoApproved: false, summaryIntervalSeconds: 0 })
    expect(reportingOf(effectivePolicy(null, found('{}')))).toBe(null)
  })
})
