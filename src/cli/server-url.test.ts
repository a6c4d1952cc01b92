import { expect, test } from 'vitest'
import { openChatTarget } from './commands/chat/chat-target.ts'
import { isReadableByOthers, noServerAt } from './server-url.ts'
import { createTestIo } from './testing/test-io.ts'

test('others can read only http to another machine', () => {
  const open = ['http://192.0.2.1:8000', 'http://agent.example.com', 'http://[2001:db8::1]/', 'http://127.0.0.1.nip.io']
  const closed = ['https://agent.example.com', 'http://127.0.0.1:8000', 'http://localhost', 'http://[::1]:8000']

  expect(open.filter((url) => isReadableByOthers(new URL(url)))).toEqual(open)
  expect(closed.filter((url) => isReadableByOthers(new URL(url)))).toEqual([])
})

test('a chat warns about such an address', async () => {
  const warned = async (url: string) => {
    const io = createTestIo()
    await openChatTarget(url, {}, () => Promise.reject(new Error('nothing is started')), io)
    return io.complained()
  }

  expect(await warned('http://agent.example.com')).toBe(
    'warning: http:// to agent.example.com: others can read your messages and tokens. Use https.\n',
  )
  expect(await warned('http://127.0.0.1:8000')).toBe('')
})

test('a certificate that nobody trusts is not called a missing server', () => {
  const failed = (code: string) => new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code }) })

  for (const code of [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ]) {
    expect(noServerAt('https://agent', failed(code)).message).toBe(
      `The certificate of https://agent is not trusted (${code}), so nothing was sent.`,
    )
  }
  expect(noServerAt('https://agent', failed('ECONNREFUSED')).message).toBe(
    'No server answers at https://agent (ECONNREFUSED).',
  )
})
