import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import { consolePlace, refuseForeignPage } from './own-origin.ts'

/** A connection to this port. Undefined: to the local socket. */
const at = (port: number | undefined, socket = new Socket()) =>
  Object.defineProperty(socket, 'localPort', { value: port })

const plain = at(8000)
const tls = at(443, new TLSSocket(new Socket()))
const PUBLIC = 'https://agents.example.com/deck'

describe('passkeys', () => {
  test.each([
    ['localhost:8000', plain, null, 'http://localhost:8000', null],
    ['localhost', tls, null, 'https://localhost', null],
    ['agents.example.com', tls, null, 'https://agents.example.com', null],
    // A proxy speaks TLS with the browser, and the settings say so.
    ['agents.example.com', plain, PUBLIC, 'https://agents.example.com', null],
    ['agents.example.com', plain, null, 'http://agents.example.com', 'only over TLS'],
    ['127.0.0.1:8000', plain, null, 'http://127.0.0.1:8000', 'Open http://localhost:8000/console instead.'],
    ['[::1]:8000', plain, null, 'http://[::1]:8000', 'Open http://localhost:8000/console instead.'],
    ['10.0.0.7', tls, null, 'https://10.0.0.7', 'by a name and over TLS'],
    ['name:99999', plain, null, 'http://name:99999', 'set public_url'],
  ])('at %s', (host, socket, publicUrl, origin, whyNot) => {
    expect(consolePlace({ headers: { host }, socket }, publicUrl)).toEqual({
      origin,
      rpId: expect.any(String),
      whyNot: whyNot === null ? null : expect.stringContaining(whyNot),
    })
  })

  test.each([
    ['of another port', { host: 'localhost:5173' }, plain],
    ['of another port, as its page says', { host: 'localhost:5173', origin: 'http://localhost:5173' }, plain],
    ['of no Host, as HTTP/1.0 allows', {}, plain],
    ['of another name of this machine', { host: 'agent.localhost:5173' }, plain],
    ['on the local socket', { host: 'localhost:8000' }, at(undefined)],
    [
      'of a name on the local socket',
      { host: 'agents.example.com', origin: 'https://agents.example.com' },
      at(undefined),
    ],
  ])('are not asked for a page %s, which an agent may have made', (_name, headers, socket) => {
    expect(consolePlace({ headers, socket }, null).whyNot).toContain('set public_url')
  })

  test('work on another port of this machine if the settings name it', () => {
    const headers = { host: 'localhost:9000' }

    expect(consolePlace({ headers, socket: plain }, 'http://localhost:9000').whyNot).toBeNull()
    expect(consolePlace({ headers, socket: plain }, 'http://localhost:9001').whyNot).toContain('set public_url')
  })

  test('are bound to the name in the address, as the browser says it', () => {
    const headers = { host: 'agents.example.com', origin: 'https://agents.example.com' }

    expect(consolePlace({ headers, socket: plain }, null)).toEqual({
      origin: 'https://agents.example.com',
      rpId: 'agents.example.com',
      whyNot: null,
    })
    // A page of somebody else does not decide it.
    const foreign = { host: 'localhost:8000', origin: 'https://evil.example' }
    expect(consolePlace({ headers: foreign, socket: plain }, null).rpId).toBe('localhost')
  })
})

test.each([
  [{ host: 'localhost:8000' }, plain, true],
  [{ host: 'localhost:8000', origin: 'http://localhost:8000' }, plain, true],
  [{ host: 'localhost:8000', origin: 'https://localhost:8000' }, plain, true],
  [{ host: 'localhost:8000', origin: 'http://localhost:8000' }, tls, false],
  [{ host: '10.0.0.7', origin: 'https://agents.example.com' }, plain, true],
  [{ host: 'localhost:8000', origin: 'http://localhost:8001' }, plain, false],
  [{ host: 'localhost:8000', origin: 'null' }, plain, false],
  [{ host: 'localhost:8000', 'sec-fetch-site': 'same-origin' }, plain, true],
  [{ host: 'localhost:8000', 'sec-fetch-site': 'same-site' }, plain, false],
  [{ host: 'localhost:8000', origin: 'http://localhost:8000', 'sec-fetch-site': 'cross-site' }, plain, false],
])('a request of the console with %j', (headers, socket, isOwn) => {
  const check = () => refuseForeignPage({ headers, socket }, PUBLIC)

  if (isOwn) expect(check).not.toThrow()
  else expect(check).toThrow(ServerError)
})
