import { expect, test } from 'vitest'
import { comparable, matchWords, ONCE, rememberedAs, scopeWords } from './remember-choice.ts'

const args = { to: 'bob', count: 2, list: [1], api_key: '[masked]', 'a.b': 'x' }

test('only single values that are shown can be compared', () => {
  const shown = { arguments: [{ name: 'api_key', secret: true }] }
  expect(comparable({ arguments: args, shown })).toEqual(['to', 'count'])
})

const begins = {
  label: 'Commands that begin with npm test',
  match: { type: 'begins', words: ['npm', 'test'] },
} as const

test('a choice becomes what the server takes', () => {
  const as = (choice: Parameters<typeof rememberedAs>[0]) => rememberedAs(choice, { arguments: args })
  expect(as(ONCE)).toEqual({})
  expect(as({ scope: 'session', match: null, same: null })).toEqual({ remember: 'session' })
  expect(as({ scope: 'always', match: null, same: ['to'] })).toEqual({
    remember: 'always',
    grant: { where: { to: { equals: 'bob' } } },
  })
  expect(as({ scope: 'workspace', match: begins as never, same: null })).toEqual({
    remember: 'workspace',
    grant: { match: begins.match },
  })
})

test('a choice is said in words', () => {
  const words = (choice: Partial<Parameters<typeof matchWords>[0]>) => matchWords({ ...ONCE, ...choice }, 'send_mail')
  expect(words({ match: begins as never })).toBe('Commands that begin with npm test')
  expect(words({})).toBe('Calls of send_mail with exactly the same arguments')
  expect(words({ same: [] })).toBe('Calls of send_mail with any arguments')
  expect(words({ same: ['to'] })).toBe('Calls of send_mail with the same to, whatever the other arguments are')
  expect([scopeWords('session', true), scopeWords('session', false)]).toEqual([
    ...['until this session ends', 'in this session, for 15 minutes'],
  ])
})
