import { expect, test } from 'vitest'
import { comparable, ONCE, rememberedAs, rememberText } from './remember-choice.ts'

const args = { to: 'bob', count: 2, list: [1], api_key: '[masked]', 'a.b': 'x' }

test('only single values that are shown can be compared', () => {
  const shown = { arguments: [{ name: 'api_key', secret: true }] }
  expect(comparable({ arguments: args, shown })).toEqual(['to', 'count'])
})

test('a choice becomes what the server takes', () => {
  expect(rememberedAs(ONCE, args)).toEqual({})
  expect(rememberedAs({ remember: 'session', seconds: 900, same: null }, args)).toEqual({
    remember: 'session',
    grant: { seconds: 900 },
  })
  expect(rememberedAs({ remember: 'always', seconds: null, same: ['to'] }, args)).toEqual({
    remember: 'always',
    grant: { where: { to: { equals: 'bob' } }, seconds: null },
  })
})

test('a choice is said in one sentence', () => {
  expect(rememberText({ remember: 'session', seconds: 900, same: null }, 'run', 'send_mail')).toBe(
    'Calls of send_mail with exactly the same arguments run without asking, in this session, for 15 minutes.',
  )
  expect(rememberText({ remember: 'always', seconds: null, same: [] }, 'refuse', 'send_mail')).toBe(
    'Calls of send_mail with any arguments are refused without asking, in all sessions, until revoked.',
  )
})
