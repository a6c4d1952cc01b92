import { expect, test } from 'vitest'
import { isSessionId, uuidOfUlid } from './session-id.ts'

test('a ULID has the bytes of its UUID', () => {
  expect(uuidOfUlid('01J9ZQ3V6K8R2T4Y7B5N0M1C3D')).toBe('01927f71-ecd3-4605-a278-eb2d4140b06d')
  expect(uuidOfUlid('00000000000000000000000000')).toBe('00000000-0000-0000-0000-000000000000')
  expect(uuidOfUlid('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')).toBe('ffffffff-ffff-ffff-ffff-ffffffffffff')
})

test('a name is neither', () => {
  for (const name of ['trip', '', '8ZZZZZZZZZZZZZZZZZZZZZZZZZ', '01J9ZQ3V6K8R2T4Y7B5N0M1C3U']) {
    expect([isSessionId(name), uuidOfUlid(name)]).toEqual([false, null])
  }
  expect(isSessionId('01927f71-ecd3-4605-a278-eb2d4140b06d')).toBe(true)
})
