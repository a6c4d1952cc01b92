import { ClientError } from 'quarterdeck/client'
import { expect, test } from 'vitest'
import { planIn } from './RestoreDialog.tsx'

test('a 409 says what would change, dangers first and nothing that is empty', () => {
  const problem = {
    code: 'restore_unconfirmed',
    digest: 'd1',
    counts: { modified: 2, added: 1_500, protected: 1 },
    ...{ modified: ['a', 'b'], deleted: [], added: ['c'], protected: ['.git/hooks/x'] },
  }
  const error = new ClientError('restore_unconfirmed', 'Look.', { status: 409, problem })

  expect(planIn(error)).toEqual({
    digest: 'd1',
    lists: [
      { name: 'protected', paths: ['.git/hooks/x'], count: 1 },
      { name: 'modified', paths: ['a', 'b'], count: 2 },
      { name: 'added', paths: ['c'], count: 1_500 },
    ],
  })
})

test('another error is no plan', () => {
  expect(planIn(new ClientError('forbidden', 'No.', { status: 403, problem: { digest: 'x' } }))).toBeNull()
  expect(planIn(new Error('x'))).toBeNull()
})
