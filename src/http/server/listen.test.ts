import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import {
  connect,
  createServer as createTcpServer,
  type ListenOptions,
  type Server as NetServer,
  type Socket,
} from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../testing/free-port.ts'
import { copyListening } from './copy-listening.ts'
import { listen } from './listen.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'))

const turn = () => new Promise((resolve) => setImmediate(resolve))

test.skipIf(process.platform !== 'linux')('many connections are accepted in a few turns of the loop', async () => {
  const server = createServer()
  const { host, port, close } = await listen(server, { hosts: ['127.0.0.1'], port: 0 }, () => {})
  let taken = 0
  server.on('connection', () => {
    taken += 1
  })
  const clients: Socket[] = []
  const rush = (length: number) => clients.push(...Array.from({ length }, () => connect(port, host)))
  onTestFinished(async () => {
    for (const client of clients) client.destroy()
    await close()
    server.closeAllConnections()
    server.close()
  })

  // The copies are made while these come, and are there a moment later.
  rush(64)
  for (let turns = Number.POSITIVE_INFINITY; turns >= 60; ) {
    rush(100)
    // Turns in which no connection had arrived yet do not count.
    turns = 0
    while (taken < clients.length) {
      const before = taken
      await turn()
      if (taken > before) turns += 1
    }
  }
})

test.skipIf(process.platform !== 'linux')('closed while copies are made, it leaves the port free', async () => {
  const server = createServer()
  // An address that no other test uses: another one could take the port in the moment in which it is free.
  const { host, port, close } = await listen(server, { hosts: ['127.0.0.50'], port: 0 }, () => {})
  const clients = Array.from({ length: 64 }, () => connect(port, host))
  await new Promise<void>((resolve) => {
    let left = clients.length
    server.on('connection', () => --left === 0 && resolve())
  })
  for (const client of clients) client.destroy()
  const closed = close()
  server.closeAllConnections()
  server.close()
  await closed

  const next = createServer()
  const again = await listen(next, { hosts: [host], port }, () => {})
  await again.close()
  next.close()
})

test.skipIf(process.platform !== 'linux')('goes on with one descriptor if no child can be started', async () => {
  const { execPath } = process
  onTestFinished(() => void Object.assign(process, { execPath }))
  const server = createServer()
  const { host, port, close } = await listen(server, { hosts: ['127.0.0.1'], port: 0 }, () => {})
  // As after an update of Node, or where no more processes are allowed.
  process.execPath = '/nowhere/node'
  let taken = 0
  server.on('connection', () => {
    taken += 1
  })

  const clients = Array.from({ length: 100 }, () => connect(port, host))
  await expect.poll(() => taken).toBe(100)
  for (const client of clients) client.destroy()
  await close()
  server.closeAllConnections()
  server.close()
})

test.skipIf(process.platform !== 'linux')('a socket that cannot be copied is left as it is', async () => {
  // In a worker of a cluster, the socket belongs to the parent.
  const worker = Object.assign(createTcpServer(), { _handle: { close() {} } })

  await copyListening([worker], 1, () => expect.fail('there is no copy'), new AbortController().signal)
})

test('a port in use is refused', async () => {
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

test.skipIf(process.platform !== 'linux')(
  'a port of its own is not shared with another program of the same user',
  async () => {
    const server = createServer((_request, response) => response.end('ours'))
    const { host, port, close } = await listen(server, { hosts: ['127.0.0.1'], port: 0 }, () => {})
    const agent = createTcpServer()
    onTestFinished(() => {
      close()
      server.close()
      agent.close()
    })

    const refused = new Promise((resolve) =>
      agent.once('error', resolve).once('listening', () => resolve('it listens')),
    )
    agent.listen({ host, port, reusePort: true })

    expect(await refused).toMatchObject({ code: 'EADDRINUSE' })
    expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe('ours')
  },
)

test('a port of its own is opened once, so whoever connects from then on is answered', async () => {
  const server = createServer((_request, response) => response.end('here'))
  const answers: Promise<string>[] = []
  // The listening socket is open, and nothing else has happened yet.
  const onOpen = (message: unknown) => {
    const { port } = Object(Object(message).server.address())
    if (port === free) answers.push(fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.text(), String))
  }
  const free = await freePort()
  subscribe('tracing:net.server.listen:asyncEnd', onOpen)
  const { close } = await listen(server, { hosts: ['127.0.0.1'], port: free }, () => {})
  unsubscribe('tracing:net.server.listen:asyncEnd', onOpen)
  onTestFinished(() => {
    close()
    server.closeAllConnections()
    server.close()
  })

  expect(await Promise.all(answers)).toEqual(['here'])
})

test('after close, it accepts no connections and the port is free', async () => {
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

  test('port 0: if the port is in use on the other address, another one is found', async () => {
    const strangers: NetServer[] = []
    const server = createServer()
    const open = server.listen.bind(server)
    Object.assign(server, {
      listen(options: ListenOptions, ready: () => void) {
        open(options, () => {
          if (strangers.length === 3) return ready()
          const stranger = createTcpServer()
          strangers.push(stranger)
          stranger.listen({ host: '::1', port: Object(server.address()).port }, ready)
        })
      },
    })

    const { port, close } = await listen(server, { hosts, port: 0 }, () => {})
    const taken = strangers.map((stranger) => Object(stranger.address()).port)
    await close()
    server.close()
    for (const stranger of strangers) stranger.close()

    expect([taken.length, taken.includes(port)]).toEqual([3, false])
  })

  test('it listens on both or none', async () => {
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

  test('an address that the machine does not have is skipped, unless it is the only one', async () => {
    // Reserved for documentation, so no machine has it.
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
