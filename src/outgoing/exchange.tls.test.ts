// The certificate of the suite is trusted through NODE_EXTRA_CA_CERTS, which a process reads once: hence the processes.

import { readFileSync } from 'node:fs'
import tls, { type TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { runLines } from './testing/lines-process.ts'
import { answerOf, listenRaw, openServer, type RawServer } from './testing/raw-server.ts'

const pathOf = (part: 'cert' | 'key') =>
  fileURLToPath(new URL(`../http/testing/localhost-${part}.pem`, import.meta.url))
const cert = readFileSync(pathOf('cert'))
const key = readFileSync(pathOf('key'))
const trusting = { NODE_EXTRA_CA_CERTS: pathOf('cert') }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function listen(answer: (socket: TLSSocket, request: string) => void, host?: string): Promise<RawServer> {
  const server = tls.createServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => answer(socket, bytes.toString()))
  })
  const open = await openServer(server, host)
  cleanups.push(open.close)
  return open
}

/** In the process, every name leads to these addresses. */
const lookup = (...addresses: string[]) => `
  process.getBuiltinModule('node:dns').lookup = (name, options, done) =>
    done(null, ${JSON.stringify(addresses)}.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))`

describe('connections with TLS', () => {
  test('are used again, resume their session when they are new, and do not hold a process', async () => {
    const seen: unknown[] = []
    const server = await listen((socket, request) => {
      seen.push([socket.servername, socket.alpnProtocol, socket.isSessionReused()])
      socket.write(answerOf('x', request.includes('/last') ? 'connection: close\r\n' : ''))
    })
    const code = `
      for (const path of ['first', 'last', 'third']) {
        console.log((await ask(lines, url + path).outcome).body)
        await turns(50)
      }`
    expect(await runLines(code, `https://localhost:${server.port}/`, trusting)).toBe('x\nx\nx\n')
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
  ])('go to %s without the name that only names have', async (address, host) => {
    let name: unknown
    const server = await listen((socket) => {
      name = socket.servername
      socket.write(answerOf('x'))
    }, host)
    const code = 'console.log(await ask(lines, url).outcome)'
    const printed = await runLines(code, `https://${address}:${server.port}/`, trusting)
    expect(printed).toBe("{ status: 200, headers: { 'content-length': '1' }, body: 'x' }\n")
    expect(name).toBe(false)
  })

  test('fail when the certificate is for somebody else', async () => {
    const server = await listen((socket) => socket.write(answerOf('x')), '127.0.0.1')
    const code = `${lookup('127.0.0.1')}
      console.log(await ask(lines, url).outcome)`
    const printed = await runLines(code, `https://model.test:${server.port}/`, trusting)
    expect(printed).toBe("{ failure: 'ERR_TLS_CERT_ALTNAME_INVALID' }\n")
  })

  test('try the next address of a name, with TLS and without', async () => {
    const secure = await listen((socket) => socket.write(answerOf('secure')))
    const plain = await listenRaw((socket) => socket.write(answerOf('plain')))
    cleanups.push(plain.close)
    const code = `${lookup('::1', '127.0.0.1')}
      console.log((await ask(lines, url).outcome).body, (await ask(lines, 'http://localhost:${plain.port}').outcome).body)`
    expect(await runLines(code, `https://localhost:${secure.port}/`, trusting)).toBe('secure plain\n')
  })

  test('stop reading with pause, and lose nothing', async () => {
    const total = 32 * 1024 * 1024
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
    const code = `
      const asked = ask(lines, url, {}, (call, exchange) => call === 'head' && exchange.pause())
      await until(() => asked.calls.length > 0)
      let before = -1
      while (before !== asked.received()) {
        before = asked.received()
        await turns(500)
      }
      asked.exchange.resume()
      const { body } = await asked.outcome
      let wrong = 0
      for (let i = 0; i < body.length; i += 1) if (body.charCodeAt(i) !== 97 + ((Math.floor(i / 32768) + 1) % 26)) wrong += 1
      console.log(JSON.stringify([before, body.length, wrong]))`
    const [received, size, wrong] = JSON.parse(await runLines(code, `https://127.0.0.1:${server.port}/`, trusting))
    // What had been read from the socket is still decrypted.
    expect(received).toBeLessThanOrEqual(128 * 1024)
    expect([size, wrong]).toEqual([total, 0])
  })
})
