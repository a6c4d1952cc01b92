import { expect, test } from 'vitest'
import { operatorTokenIn } from './server-url.ts'

test('a token of an identity provider counts under either name, a user’s token of the server does not', () => {
  const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'

  expect(operatorTokenIn({ QUARTERDECK_TOKEN: jwt })).toBe(jwt)
  expect(operatorTokenIn({ QUARTERDECK_TOKEN: jwt, QUARTERDECK_OPERATOR_TOKEN: 'qd_operator' })).toBe('qd_operator')
  expect(operatorTokenIn({ QUARTERDECK_TOKEN: 'qd_user' })).toBe(undefined)
  expect(operatorTokenIn({})).toBe(undefined)
})
