import { expect, test } from 'vitest'
import { whyNoPush } from './PushPart.tsx'

const fine = {
  isSecure: true,
  hasWorker: true,
  hasPush: true,
  isApplePhone: false,
  isInstalled: false,
  permission: 'default',
} as const

test('a browser that can show push messages may be asked', () => {
  expect(whyNoPush(fine)).toBeNull()
  expect(whyNoPush({ ...fine, permission: 'granted' })).toBeNull()
  expect(whyNoPush({ ...fine, isApplePhone: true, isInstalled: true })).toBeNull()
})

test('each reason why it cannot says what to do', () => {
  expect(whyNoPush({ ...fine, isSecure: false, hasWorker: false })).toContain('--tls-cert')
  expect(whyNoPush({ ...fine, isApplePhone: true, hasPush: false })).toContain('Add to Home Screen')
  expect(whyNoPush({ ...fine, hasPush: false, permission: null })).toContain('title of the tab')
  expect(whyNoPush({ ...fine, permission: 'denied' })).toContain('blocked')
})
