import { describe, expect, test } from 'vitest'
import { correlationOf } from './dispatch.ts'

const ids = { uuid: () => 'new-id' }

describe('correlation ids', () => {
  test.each(['a', 'req-1.2:3', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'x'.repeat(128)])(
    'keeps %s',
    (id) => {
      expect(correlationOf(id, ids)).toBe(id)
    },
  )

  test.each([undefined, '', 'x'.repeat(129), 'a b', 'a"b', '<script>', 'é', 'a\tb', ['a', 'b']])(
    'replaces %j with a new id',
    (id) => {
      expect(correlationOf(id, ids)).toBe('new-id')
    },
  )
})
