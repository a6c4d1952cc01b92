import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import { createManualClock } from '../../models/testing/manual-clock.ts'
import type { SlackAnswers } from './slack-api.ts'
import { clientOptions, createLibraryLogger } from './slack-caller.ts'
import { createSlackSocket, type SocketState } from './slack-socket.ts'
import { ANA, OPS, until } from './testing/open-slack.ts'
import { createSlackStandIn } from './testing/slack-stand-in.ts'

/** Time stands still, also in the stand-in. */
async function open({ pingMs = 60_000 } = {}) {
  const clock = createManualClock()
  const slack = await createSlackStandIn({ clock })
  onTestFinished(() => slack.close())
  const taken: string[] = []
  const states: SocketState['type'][] = []
  const never = new Promise<never>(() => {})
  let handling: Promise<void> = Promise.resolve()
  const answers: SlackAnswers = {
    async onAction() {
      taken.push('action')
    },
    async onCommand(payload) {
      taken.push(`command ${(payload as { text: string }).text}`)
      await handling
    },
    async onMessage(event, { teamId }) {
      taken.push(`message ${(event as { text: string }).text} in ${teamId}`)
    },
  }
  const socket = createSlackSocket({
    appToken: slack.appToken,
    clientOptions: clientOptions(slack.apiUrl, fetch),
    dispatcher: null,
    answers,
    onState: ({ type }) => void states.push(type),
    pingMs,
    ...{ clock, random: () => 0, logger: silentLogger, libraryLogger: createLibraryLogger(silentLogger, 'debug') },
  })
  onTestFinished(async () => {
    void socket.close()
    await clock.advance(2_000)
  })
  return {
    ...{ slack, socket, taken, states, clock },
    /** Handlers do not come to an end any more. */
    hang() {
      handling = never
    },
    /** Closes it, however long that takes in the time of the clock. */
    async close() {
      const closing = socket.close()
      await clock.advance(2_000)
      await closing
    },
    type: (text: string) => slack.slash({ user: ANA, channel: OPS, text }),
  }
}

test('everything that people do is acknowledged at once, also while an answer takes its time, and handed over', async () => {
  const { slack, socket, taken, hang, type } = await open()
  socket.start()
  await slack.whenConnected()
  hang()
  expect(await type('slow')).toMatchObject({ isAcked: true, attempts: 1 })
  expect(await slack.reply({ user: ANA, channel: OPS, thread: null, text: 'hi' })).toMatchObject({ isAcked: true })

  expect(taken).toEqual(['command slow', 'message hi in T0ACME'])
})

test('what Slack sends twice is handled once', async () => {
  const { slack, socket, taken, type } = await open()
  socket.start()
  await slack.whenConnected()
  const { envelopeId } = await type('one')
  slack.redeliver(envelopeId)
  await type('two')

  expect(taken).toEqual(['command one', 'command two'])
})

test('a refresh loses nothing: what people do meanwhile arrives on the new connection', async () => {
  const { slack, socket, taken, states, type } = await open()
  socket.start()
  await slack.whenConnected()
  slack.disconnect('refresh_requested')
  const typing = type('one')
  await until(() => states.length === 4)
  slack.redeliver()

  expect((await typing).isAcked).toBe(true)
  expect(taken).toEqual(['command one'])
  expect(states).toEqual(['connecting', 'connected', 'connecting', 'connected'])
})

test('a dead connection is noticed, and a new one takes its place', async () => {
  const { slack, socket, taken, states, type, clock } = await open({ pingMs: 300 })
  socket.start()
  await slack.whenConnected()
  slack.freeze()
  await until(() => states.length === 3)
  await clock.advance(1_000)
  await slack.whenConnected()
  const typing = type('hello')
  await until(() => socket.state.type === 'connected')
  slack.redeliver()
  await typing

  expect(taken).toEqual(['command hello'])
})

test('a handshake without an answer is given up after ten seconds and tried again', async () => {
  const { slack, socket, clock } = await open()
  slack.refuseConnections('unanswered')
  socket.start()
  await until(() => slack.calls('apps.connections.open') === 1)
  // The limit of the start is the only timer.
  await clock.advance(10_000)
  slack.allowConnections()
  await until(async () => {
    if (clock.pending > 0 && slack.socketCount === 0) await clock.advance(100)
    return socket.state.type === 'connected'
  })
  expect(slack.calls('apps.connections.open')).toBeGreaterThanOrEqual(2)
})

test('pauses between tries grow from one second to thirty', async () => {
  const { slack, socket, clock } = await open()
  slack.failNext('apps.connections.open', 'fatal_error', 100)
  socket.start()
  const pauses: number[] = []
  for (let calls = 1; calls <= 8; calls += 1) {
    await until(() => slack.calls('apps.connections.open') === calls)
    await until(() => clock.pending === 1)
    let pause = 0
    while (clock.pending === 1 && pause < 100) {
      pause += 1
      await clock.advance(1_000)
      if (slack.calls('apps.connections.open') > calls) break
      await new Promise((resolve) => setImmediate(resolve))
    }
    pauses.push(pause)
  }
  expect(pauses[0]).toBeLessThanOrEqual(2)
  expect(Math.max(...pauses)).toBeLessThanOrEqual(31)
  expect(pauses.at(-1)).toBeGreaterThanOrEqual(29)
})

test('an app token that Slack does not take is told by its reason', async () => {
  const { slack, socket } = await open()
  slack.revokeToken('app', 'invalid_auth')
  socket.start()
  await until(() => socket.state.type === 'refused')
  expect(socket.state).toMatchObject({ type: 'refused', reason: 'invalid_auth' })
})

test('closing is quick: while connecting, with a dead connection, and while an answer takes its time', async () => {
  for (const how of ['connecting', 'frozen', 'busy'] as const) {
    const { slack, socket, type, hang, close } = await open()
    if (how === 'connecting') slack.refuseConnections('unanswered')
    socket.start()
    if (how === 'connecting') await until(() => slack.calls('apps.connections.open') === 1)
    else await slack.whenConnected()
    hang()
    if (how === 'busy') await type('slow')
    if (how === 'frozen') slack.freeze()
    await close()
    await until(() => slack.socketCount === 0)
  }
})
