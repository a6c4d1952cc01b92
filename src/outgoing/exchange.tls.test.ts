import { readFileSync } from 'node:fs'
import tls, { type TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { createConnections } from './connections.ts'
import { ask, turns, until } from './testing/ask.ts'
import { answerOf, listenRaw, openServer, type RawServer } from './testing/raw-server.ts'
import { runInProcess } from './testing/run-in-process.ts'

const pem = (part: 'cert' | 'key') =>
  readFileSync(new URL(`../http/testing/localhost-${part}.pem`, import.meta.url), 'utf8')

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function listen(answer: (socket: TLSSocket, request: string) => void, host?: string): Promise<RawServer> {
  const options = { cert: pem('cert'), key: pem('key'), ALPNProtocols: ['h2', 'http/1.1'] }
  const server = tls.createServer(options, (socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => answer(socket, bytes.toString()))
  })
  const open = await openServer(server, host)
  cleanups.push(open.close)
  return open
}

function trustingPool() {
  const connections = createConnections()
  cleanups.push(connections.close)
  return connections.pool({ proxyVariables: null, tls: { ca: pem('cert') } })
}

describe('connections with TLS', () => {
  test('are used again, and resume their session when they are new', async () => {
    const seen: unknown[] = []
    const server = await listen((socket, request) => {
      seen.push([socket.servername, socket.alpnProtocol, socket.isSessionReused()])
      socket.write(answerOf('x', request.includes('/last') ? 'connection: close\r\n' : ''))
    })
    const pool = trustingPool()
    for (const path of ['first', 'last', 'third']) {
      expect((await ask(pool, `https://localhost:${server.port}/${path}`).outcome).body).toBe('x')
      await turns()
    }
    expect(seen).toEqual([
      ['localhost', 'http/1.1', false],
      ['localhost', 'http/1.1', false],
      ['localhost', 'http/1.1', true],
    ])
    expect(server.sockets).toHaveLength(2)
  })

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['[::1]', '::1'],
  ])('send no server name to the address %s', async (address, host) => {
    let name: unknown
    const server = await listen((socket) => {
      name = socket.servername
      socket.write(answerOf('x'))
    }, host)
    expect(await ask(trustingPool(), `https://${address}:${server.port}/`).outcome).toMatchObject({ body: 'x' })
    expect(name).toBe(false)
  })

  test('stop reading with pause, and lose nothing', async () => {
    const total = 16 * 1024 * 1024
    let sent = 0
    const server = await listen((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const write = () => {
        while (sent < total) {
          sent += 32_768
          if (!socket.write(String.fromCharCode(97 + ((sent / 32_768) % 26)).repeat(32_768))) {
            return void socket.once('drain', write)
          }
        }
        socket.end()
      }
      write()
    })
    const url = `https://127.0.0.1:${server.port}/`
    const asked = ask(trustingPool(), url, {}, (call, exchange) => call === 'head' && exchange.pause())
    await until(() => asked.calls.length > 0)
    for (let before = -1; before !== sent; await turns(300)) before = sent
    // What was read from the socket before the pause is still decrypted.
    expect(asked.received()).toBeLessThanOrEqual(128 * 1024)
    asked.exchange.resume()
    const { body = '' } = await asked.outcome
    const expected = Array.from({ length: total / 32_768 }, (_, i) => String.fromCharCode(97 + ((i + 1) % 26)))
    expect([body.length, Array.from(expected, (_, i) => body[i * 32_768])]).toEqual([total, expected])
  })
})

test('a name with several addresses: the next one is tried', async () => {
  const plain = await listenRaw((socket) => socket.write(answerOf('plain')))
  cleanups.push(plain.close)
  // Another name server needs another process.
  const code = `
    process.getBuiltinModule('node:dns').lookup = (name, options, done) =>
      done(null, [{ address: '::1', family: 6 }, { address: '127.0.0.1', family: 4 }])
    console.log((await ask(pool, url).outcome).body)`
  expect(await runInProcess(code, `http://localhost:${plain.port}`)).toBe('plain\n')
})
