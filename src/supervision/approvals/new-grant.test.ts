import { describe, expect, test } from 'vitest'
import { fits } from '../policy/argument-conditions.ts'
import { approval } from '../testing/approval.ts'
import { pathContext } from '../testing/gated-call.ts'
import { newGrant, type OwnGrantRequest } from './new-grant.ts'

const args = { to: ['ann@example.com'], text: 'Hi', options: { urgent: true, tags: [] } }

const request = (change: Partial<OwnGrantRequest> = {}): OwnGrantRequest => ({
  id: 'g1',
  approval,
  arguments: args,
  remember: { scope: 'session' },
  effect: undefined,
  by: { user: 'olga', role: 'operator' },
  now: 5_000,
  ...change,
})

const refusal = (change: Partial<OwnGrantRequest>) => {
  try {
    newGrant(request(change))
    return null
  } catch (error) {
    return error
  }
}

describe('a grant', () => {
  test('allows exactly these arguments in this session for 15 minutes by default', () => {
    expect(newGrant(request())).toEqual({
      id: 'g1',
      agent: 'helper',
      tool: 'send_email',
      where: {
        '#': { equals: 3 },
        'to.#': { equals: 1 },
        'to.0': { equals: 'ann@example.com' },
        text: { equals: 'Hi' },
        'options.#': { equals: 2 },
        'options.urgent': { equals: true },
        'options.tags.#': { equals: 0 },
      },
      sessionId: 's1',
      grantedBy: 'olga',
      approvalId: 'a1',
      policyVersion: expect.any(String),
      createdAt: 5_000,
      expiresAt: 905_000,
    })
  })

  test.each<[string, Record<string, unknown>]>([
    ['another recipient', { ...args, to: ['ann@example.com', 'eve@example.com'] }],
    ['one argument more', { ...args, bcc: 'eve@example.com' }],
    ['one argument less', { to: args.to, options: args.options }],
    ['a list that is no longer empty', { ...args, options: { urgent: true, tags: ['x'] } }],
    ['another type', { ...args, text: ['Hi'] }],
    ['one more deep inside', { ...args, options: { urgent: true, tags: [], cc: 'eve' } }],
  ])('does not allow %s', (_, other) => {
    const { where } = newGrant(request())
    expect([
      fits(where, args, pathContext, 'narrow'),
      fits(where, structuredClone(args), pathContext, 'narrow'),
      fits(where, other, pathContext, 'narrow'),
    ]).toEqual([true, true, false])
  })

  test('with the scope always lasts in every session until it is revoked', () => {
    expect(newGrant(request({ remember: { scope: 'always' } }))).toMatchObject({ sessionId: null, expiresAt: null })
  })

  test('takes its time and its conditions from the decision', () => {
    const where = { text: { matches: '*' } }
    const remember = { scope: 'always', where, seconds: 60 } as const
    expect(newGrant(request({ remember }))).toMatchObject({ where, sessionId: null, expiresAt: 65_000 })
    expect(newGrant(request({ remember: { scope: 'session', seconds: null } }))).toMatchObject({ expiresAt: null })
    expect(newGrant(request({ remember: { scope: 'session', where: {} } }))).toMatchObject({ where: {} })
  })

  test('for 15 minutes lasts in every session', () => {
    expect(newGrant(request({ remember: { scope: '15m' } }))).toMatchObject({ sessionId: null, expiresAt: 905_000 })
  })

  test.each<[string, Partial<OwnGrantRequest>, string]>([
    [
      'for a workspace',
      { remember: { scope: 'workspace' } },
      'This agent has no workspace. Remember it for the `session`, `15m` or `always`.',
    ],
    [
      'for 15 minutes by somebody who is not an operator',
      { remember: { scope: '15m' }, by: { user: 'ann', role: 'user' } },
      'Only an operator can decide for every session. Answer with `remember: session`, or without it.',
    ],
    [
      'for 15 minutes that are more',
      { remember: { scope: '15m', seconds: null } },
      '`15m` says how long. Leave `seconds` out.',
    ],
    [
      'with what is for agents elsewhere',
      { remember: { scope: 'session', match: { type: 'tool', tool: 'send_email' } } },
      '`match` is for agents elsewhere. Name the arguments that matter in `where`.',
    ],
    [
      'for what is critical',
      { approval: { ...approval, risk: 'critical' } },
      'send_email has risk critical, so every call needs its own approval. Answer without `remember`.',
    ],
    [
      'for always by somebody who is not an operator',
      { remember: { scope: 'always' }, by: { user: 'ann', role: 'user' } },
      'Only an operator can decide for every session. Answer with `remember: session`, or without it.',
    ],
    [
      'with conditions that the call does not fit',
      { remember: { scope: 'session', where: { text: { equals: 'Bye' } } } },
      'The call itself does not fit `where`. Change the conditions so that they cover this call.',
    ],
    [
      'with conditions that are none',
      { remember: { scope: 'session', where: JSON.parse('{"text":{"like":"x"}}') } },
      '`where` has an unknown condition. Use equals, oneOf, matches, path, above, below or not.',
    ],
    [
      'for no time at all',
      { remember: { scope: 'session', seconds: 0 } },
      '`seconds` must be more than 0, or null for a grant that lasts until it is revoked.',
    ],
    [
      'for a time that never ends',
      { remember: { scope: 'session', seconds: Number.POSITIVE_INFINITY } },
      '`seconds` must be more than 0, or null for a grant that lasts until it is revoked.',
    ],
    [
      'for a name that an object does not keep',
      { arguments: JSON.parse('{"__proto__":1}') },
      'The argument "__proto__" cannot be remembered. Name the arguments that matter in `where`.',
    ],
    [
      'for names that conditions cannot name',
      { arguments: { 'a.b': 1 } },
      'The argument "a.b" cannot be remembered. Name the arguments that matter in `where`.',
    ],
    [
      'for arguments without end',
      { arguments: { list: Array.from({ length: 500 }, (_, i) => i) } },
      'There are too many arguments to remember. Name those that matter in `where`.',
    ],
  ])('%s is refused', (_, change, message) => {
    expect(refusal(change)).toMatchObject({ code: 'invalid_request', message })
  })

  test('for a session may be given by its owner', () => {
    expect(newGrant(request({ by: { user: 'ann', role: 'user' } }))).toMatchObject({
      grantedBy: 'ann',
      sessionId: 's1',
    })
  })
})
