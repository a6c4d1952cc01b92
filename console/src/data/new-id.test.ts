import { expect, test } from 'vitest'
import { newId } from './new-id.ts'

test('makes UUIDs of version 7 that begin with the time', () => {
  const id = newId(0x0192_f3a1_7b2c)
  expect(id).toMatch(/^0192f3a1-7b2c-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(newId(0x0192_f3a1_7b2c)).not.toBe(id)
})
