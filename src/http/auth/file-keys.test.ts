import { expect, test } from 'vitest'
import { createFileKeys } from './file-keys.ts'

const HOUR = 3_600_000

function open(secret = 'one') {
  const clock = { time: 1_790_000_000_000, now: () => clock.time }
  return { clock, keys: createFileKeys({ secret: async () => Buffer.from(secret), clock }) }
}

test('a key names its owner for one file and one hour', async () => {
  const { clock, keys } = open()
  const key = (await keys.signer('ada'))('file')

  expect(encodeURIComponent(key)).toBe(key)
  expect(await keys.ownerOf('file', key)).toBe('ada')
  expect(await keys.ownerOf('other', key)).toBeNull()
  clock.time += HOUR - 1
  expect(await keys.ownerOf('file', key)).toBe('ada')
  clock.time += 1
  expect(await keys.ownerOf('file', key)).toBeNull()
})

test('a changed key is invalid, and so is a key of another server', async () => {
  const key = (await open().keys.signer('ada'))('file')
  const [until = '', owner = '', mac = ''] = key.split('.')
  const changed = [
    `${until}0.${owner}.${mac}`,
    `${until}.bob.${mac}`,
    `${until}.${owner}.${mac.replace(/^./, (char) => (char === 'A' ? 'B' : 'A'))}`,
    `${until}.${owner}.`,
    `${until}.${owner}`,
    ` ${key}`,
    '',
    'x'.repeat(10_000),
  ]

  const { keys } = open()
  expect(await Promise.all(changed.map((one) => keys.ownerOf('file', one)))).toEqual(changed.map(() => null))
  expect(await keys.ownerOf('file', key)).toBe('ada')
  expect(await open('two').keys.ownerOf('file', key)).toBeNull()
})
