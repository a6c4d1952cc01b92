import { createServer } from 'node:http'
import { connect, createServer as createTcpServer, type ListenOptions, type Server as NetServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, onTestFinished, test } from 'vitest'
import { listen } from './listen.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'))

const turn = () => new Promise((resolve) => setImmediate(resolve))

test.skipIf(process.platform !== 'linux')('many connections are taken in a few turns of the loop', async () => {
  const server = createServer()
  const { host, port, close } = await listen(server, { hosts: ['127.0.0.1'], port: 0 }, () => {})
  let taken = 0
  server.on('connection', () => {
    taken += 1
  })
  const clients = Array.from({ length: 100 }, () => connect(port, host))
  onTestFinished(() => {
    for (const client of clients) client.destroy()
    close()
    server.closeAllConnections()
    server.close()
  })

  let turns = 0
  for (; taken < clients.length; turns += 1) await turn()

  expect(turns).toBeLessThan(60)
})

test('a port that is in use is refused, also when the other one listens like this', async () => {
  const first = createServer()
  const second = createServer()
  const { host, port, close } = await listen(first, { hosts: ['127.0.0.1'], port: 0 }, () => {})
  onTestFinished(() => {
    close()
    first.close()
  })

  await expect(listen(second, { hosts: [host], port }, () => {})).rejects.toMatchObject({
    code: 'config_invalid',
    details: { reason: 'EADDRINUSE' },
  })
})

test('any port: one that somebody else takes at the last moment is left to them, and another is found', async () => {
  const strangers: NetServer[] = []
  const server = createServer()
  const open = server.listen.bind(server)
  Object.assign(server, {
    listen(options: ListenOptions, ready: () => void) {
      if (strangers.length === 3) return open(options, ready)
      const stranger = createTcpServer()
      strangers.push(stranger)
      stranger.listen({ host: options.host, port: options.port }, () => open(options, ready))
    },
  })

  const { port, close } = await listen(server, { hosts: ['127.0.0.1'], port: 0 }, () => {})
  const taken = strangers.map((stranger) => Object(stranger.address()).port)
  close()
  server.close()
  for (const stranger of strangers) stranger.close()

  expect([taken.length, taken.includes(port)]).toEqual([3, false])
})

test('one socket serves as well', async () => {
  const server = createServer((_request, response) => response.end('here'))
  const { host, port, close } = await listen(server, { hosts: ['127.0.0.1'], port: 0 }, () => {}, 1)
  onTestFinished(() => {
    close()
    server.close()
  })

  const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`http://${host}:${port}/`)))

  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(Array(20).fill('here'))
})

test('closed, it takes no more, and the port is free', async () => {
  const server = createServer()
  const { host, port, close } = await listen(server, { hosts: ['127.0.0.1'], port: 0 }, () => {})
  close()
  await new Promise((resolve) => server.close(resolve))

  const next = createServer()
  const again = await listen(next, { hosts: [host], port }, () => {})
  again.close()
  next.close()

  expect(again.port).toBe(port)
})

describe.skipIf(!hasIpv6)('on both addresses of this machine', () => {
  const hosts = ['127.0.0.1', '::1']

  test('it serves on one port', async () => {
    const server = createServer((_request, response) => response.end('here'))
    const { host, port, close } = await listen(server, { hosts, port: 0 }, () => {})
    onTestFinished(() => {
      close()
      server.close()
    })

    const answers = await Promise.all(['127.0.0.1', '[::1]'].map((name) => fetch(`http://${name}:${port}/`)))

    expect(host).toBe('127.0.0.1')
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(['here', 'here'])
  })

  test('it has both or none', async () => {
    const stranger = createTcpServer()
    await new Promise<void>((resolve) => stranger.listen(0, '::1', resolve))
    onTestFinished(() => void stranger.close())
    const address = stranger.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0

    await expect(listen(createServer(), { hosts, port }, () => {})).rejects.toMatchObject({
      code: 'config_invalid',
      details: { host: '::1', port, reason: 'EADDRINUSE' },
    })

    const next = createServer()
    const alone = await listen(next, { hosts: ['127.0.0.1'], port }, () => {})
    alone.close()
    next.close()
  })

  test('one that the machine does not have is left out, unless it is the only one', async () => {
    // Kept for examples, so that no machine has it.
    const nowhere = '2001:db8::1'
    const server = createServer()
    const { host, close } = await listen(server, { hosts: ['127.0.0.1', nowhere], port: 0 }, () => {})
    close()
    server.close()

    expect(host).toBe('127.0.0.1')
    await expect(listen(createServer(), { hosts: [nowhere], port: 0 }, () => {})).rejects.toMatchObject({
      details: { reason: 'EADDRNOTAVAIL' },
    })
  })
})
