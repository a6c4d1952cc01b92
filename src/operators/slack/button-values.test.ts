import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createButtonValues } from './button-values.ts'

const buttons = createButtonValues(Buffer.alloc(32, 1))
const full = {
  room: 'C012AB3CD',
  recordId: 'approval-1',
  digest: 'd'.repeat(64),
  action: 'confirm:approve',
  user: 'U0ADA',
  expiresAt: 1_700_000_300_000,
}
const nothing = { digest: null, user: null, expiresAt: null }

test('reads back what a button was made with', () => {
  expect(buttons.read(buttons.value(full))).toEqual(full)
  const few = { room: 'C1', recordId: 'r', action: 'stop' }
  expect(buttons.read(buttons.value(few))).toEqual({ ...few, ...nothing })
  expect(buttons.read(buttons.value({ ...few, recordId: 'a","b' }))).toEqual({ ...few, ...nothing, recordId: 'a","b' })
})

test('refuses a value that was changed in any place, made up, or made with another secret', () => {
  const value = buttons.value(full)
  const [payload = '', mac = ''] = value.split('.')
  // The last character of a base64 text has bits that mean nothing, so it is left alone.
  for (let i = 0; i < value.length - 1; i += 1) {
    const other = value[i] === 'A' ? 'B' : 'A'
    if (i === payload.length - 1) continue
    expect(buttons.read(value.slice(0, i) + other + value.slice(i + 1))).toBeNull()
  }
  const elsewhere = Buffer.from(JSON.stringify(['C0OTHER', ...Object.values(full).slice(1)])).toString('base64url')
  const bare = createHmac('sha256', Buffer.alloc(32, 1)).update(payload).digest('base64url')
  for (const text of [
    '',
    '.',
    payload,
    `${elsewhere}.${mac}`,
    `${payload}.${bare}`,
    `${value}.`,
    'x'.repeat(100_000),
  ]) {
    expect(buttons.read(text)).toBeNull()
  }
  expect(createButtonValues(Buffer.alloc(32, 2)).read(value)).toBeNull()
})

test('fits into a button of Slack, or says that it does not', () => {
  expect(buttons.value(full).length).toBeLessThan(400)
  expect(() => buttons.value({ ...full, recordId: 'x'.repeat(1_500) })).toThrow(RangeError)
})
