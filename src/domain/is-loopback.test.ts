import { expect, test } from 'vitest'
import { isLoopback } from './is-loopback.ts'

test.each([
  '127.0.0.1',
  '127.8.9.1',
  '::1',
  '[::1]',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  'localhost',
  'LocalHost.',
  'a.localhost',
])('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true)
})

test.each([
  '0.0.0.0',
  '::',
  '192.168.1.4',
  '10.0.0.1',
  '127.0.0.1.example',
  '128.0.0.1',
  '::ffff:10.0.0.1',
  'example.com',
  'localhost.example.com',
  'localhost.example',
  '',
])('%s can be reached from elsewhere', (host) => {
  expect(isLoopback(host)).toBe(false)
})
