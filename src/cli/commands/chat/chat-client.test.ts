import { describe, expect, onTestFinished, test } from 'vitest'
import { exampleApproval } from '../../../protocols/manage/records/kinds/approval.ts'
import {
  type FakeServer,
  openSse,
  type SeenRequest,
  sendEvents,
  sendJson,
  startFakeServer,
} from '../../testing/fake-server.ts'
import { instantClock } from '../../testing/test-io.ts'
import { type ChatClient, createChatClient } from './chat-client.ts'
import type { ChatEvent } from './chat-event.ts'

type Answer = Parameters<typeof startFakeServer>[0]

async function serve(answer: Answer): Promise<FakeServer> {
  const server = await startFakeServer(answer)
  onTestFinished(() => server.close())
  return server
}

/** Accepts messages, and leaves all other requests to `answer`. */
const serveRun = (answer: Answer): Promise<FakeServer> =>
  serve((request, response) =>
    request.path.endsWith('/messages') ? sendJson(response, 202, { run_id: 'r' }) : answer(request, response),
  )

const clientFor = (url: string, more: { agent?: string; token?: string; operatorToken?: string } = {}): ChatClient =>
  createChatClient({
    url,
    agent: more.agent ?? null,
    session: 'talk',
    token: more.token ?? null,
    operatorToken: { current: () => more.operatorToken ?? null, refused: () => {} },
    clock: instantClock(),
  })

async function collect(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const all: ChatEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

const never = new AbortController().signal
const text = (delta: string) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta })
const finished = { type: 'RUN_FINISHED', threadId: 'talk', runId: 'r', outcome: { type: 'success' } }
const shown = (delta: string): ChatEvent => ({ type: 'text', messageId: 'm', delta })
const success: ChatEvent = { type: 'finished', outcome: 'success' }

describe('a chat with a server', () => {
  test('shows the next run when somebody else has answered', async () => {
    const server = await serveRun((request, response) => {
      const send = openSse(response)
      if (request.path === '/runs/r/events') {
        send(1, { type: 'RUN_STARTED', runId: 'r' })
        send(2, { type: 'RUN_FINISHED', outcome: { type: 'interrupt', interrupts: [{ id: 'a' }] } })
      } else {
        send(3, { type: 'CUSTOM', name: 'x', value: 1 })
        send(4, { type: 'RUN_STARTED', runId: 'next' })
        send(5, text('Sent.'))
        send(6, finished)
        send(7, text('of another run'))
      }
      response.end()
    })
    const client = clientFor(server.url)
    expect(await collect(client.answeredElsewhere(never))).toEqual([])
    await collect(client.send('Hi', never))

    expect(await collect(client.answeredElsewhere(never))).toEqual([shown('Sent.'), success])
    expect([server.seen[2]?.path, server.seen[2]?.headers['last-event-id']]).toEqual(['/sessions/talk/events', 's.2'])
  })

  test('ignores answers elsewhere if the server cannot tell', async () => {
    const server = await serveRun((request, response) =>
      request.path === '/runs/r/events'
        ? sendEvents(response, finished)
        : sendJson(response, 404, { code: 'session_not_found' }),
    )
    const client = clientFor(server.url)
    await collect(client.send('Hi', never))

    expect(await collect(client.answeredElsewhere(never))).toEqual([])
  })

  test('sends the message to the agent and shows the run to its end', async () => {
    const server = await serveRun((_, response) =>
      sendEvents(
        response,
        { type: 'RUN_STARTED' },
        { type: 'REASONING_MESSAGE_CONTENT', messageId: 'x', delta: 'hm' },
        { type: 'TOOL_CALL_START', toolCallId: 't', toolCallName: 'add' },
        { type: 'TOOL_CALL_ARGS', toolCallId: 't', delta: '{}' },
        { type: 'TOOL_CALL_RESULT', toolCallId: 't', messageId: 'y', content: '3' },
        text('Hello'),
        { type: 'SOMETHING_NEWER' },
        finished,
      ),
    )

    const events = await collect(clientFor(`${server.url}/`, { agent: 'my agent', token: 'secret' }).send('Hi', never))

    expect(events).toEqual([
      { type: 'reasoning', delta: 'hm' },
      { type: 'tool_call', id: 't', name: 'add' },
      { type: 'tool_args', id: 't', delta: '{}' },
      { type: 'tool_result', id: 't', content: '3' },
      shown('Hello'),
      success,
    ])
    const headers = expect.objectContaining({ authorization: 'Bearer secret' })
    expect(server.seen).toEqual([
      { method: 'POST', path: '/sessions/talk/messages', headers, body: { message: 'Hi', agent: 'my agent' } },
      { method: 'GET', path: '/runs/r/events', headers, body: null },
    ])
  })

  test('continues a broken stream where it stopped, without a second run', async () => {
    const server = await serveRun((request, response) => {
      const send = openSse(response)
      const lastId = request.headers['last-event-id']
      if (lastId === undefined) {
        send(1, text('One '))
        send(2, text('two '))
        setImmediate(() => response.destroy())
      } else {
        if (lastId === 's.2') send(3, text('three'))
        else send(4, finished)
        response.end()
      }
    })

    const events = await collect(clientFor(server.url).send('Count', never))

    expect(events).toEqual([shown('One '), shown('two '), shown('three'), success])
    expect(server.seen.map(({ method, path, headers }) => [method, path, headers['last-event-id']])).toEqual([
      ['POST', '/sessions/talk/messages', undefined],
      ['GET', '/runs/r/events', undefined],
      ['GET', '/runs/r/events', 's.2'],
      ['GET', '/runs/r/events', 's.3'],
    ])
  })

  test('gives up after five broken streams in a row and says how to come back', async () => {
    const server = await serveRun((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end()
    })

    await expect(collect(clientFor(server.url).send('Hi', never))).rejects.toMatchObject({
      exitCode: 69,
      message: `The connection to ${server.url} broke (the stream ended early).`,
      mend: [`The answer goes on there and is kept: quarterdeck chat ${server.url} --session talk`],
    })
    expect(server.seen.length).toBe(7)
  })

  test('passes on why the server refuses', async () => {
    const server = await serve((_, response) =>
      sendJson(response, 401, { status: 401, code: 'unauthorized', detail: 'Send a token.\x1b[2J' }),
    )

    await expect(collect(clientFor(server.url).send('Hi', never))).rejects.toMatchObject({
      exitCode: 1,
      message: 'Send a token.<U+001B>[2J',
      mend: [
        'Set QUARTERDECK_TOKEN to a token of that server: the one shown at its first start, or one from quarterdeck tokens create.',
      ],
    })
  })

  test('names the address when nobody answers there, and does not try again', async () => {
    const server = await startFakeServer(() => {})
    await server.close()

    await expect(collect(clientFor(server.url).send('Hi', never))).rejects.toMatchObject({
      exitCode: 69,
      message: `No server answers at ${server.url} (ECONNREFUSED).`,
      mend: ['Start one: quarterdeck serve'],
    })
  })

  test('cancels the run it is showing', async () => {
    let finish: (() => void) | undefined
    const server = await serveRun((request, response) => {
      if (request.path.endsWith('/cancel')) {
        sendJson(response, 200, {})
        finish?.()
        return
      }
      const send = openSse(response)
      send(1, text('Once upon'))
      finish = () => {
        send(2, { ...finished, outcome: { type: 'cancelled' } })
        response.end()
      }
    })
    const client = clientFor(server.url)

    const events: ChatEvent[] = []
    for await (const event of client.send('Tell me', never)) {
      events.push(event)
      if (event.type === 'text') await client.cancel()
    }

    expect(events).toEqual([shown('Once upon'), { type: 'finished', outcome: 'cancelled' }])
    expect(server.seen[2]).toMatchObject({ method: 'POST', path: '/runs/r/cancel', body: {} })
  })
})

describe('answers to what a conversation waits for', () => {
  const approval = (id: string) => ({
    ...exampleApproval,
    action: null,
    approval_id: id,
    tool_call_id: `call-${id}`,
    tool: 'send',
    arguments: { to: id },
    risk: 'high',
    answerable_by: 'operator',
    run_id: 'waiting',
    title: 'Call send',
    digest: `seen-${id}`,
  })
  const interrupt = (...ids: string[]) => ({
    ...finished,
    outcome: { type: 'interrupt', interrupts: ids.map((id) => ({ id, reason: 'tool_call' })) },
  })
  const asked = (request: SeenRequest) => [request.method, request.path, request.headers.authorization, request.body]

  const waitingServer = () =>
    serve((request, response) => {
      if (request.path.startsWith('/approvals?')) {
        return sendJson(response, 200, { approvals: [approval('b'), approval('a')] })
      }
      const id = /^\/approvals\/(.+)$/.exec(request.path)?.[1]
      // Somebody else was faster.
      if (id === 'late' && request.method === 'POST') return sendJson(response, 409, { code: 'approval_decided' })
      if (id !== undefined) return sendJson(response, 200, { continuation_run_id: `after-${id}` })
      if (request.path.endsWith('/cancel')) return sendJson(response, 200, {})
      sendEvents(response, text(request.path), request.path === '/runs/after-a/events' ? interrupt('b') : finished)
    })

  test('lists what waits, the oldest first', async () => {
    const server = await waitingServer()

    expect(await clientFor(server.url, { token: 'me' }).approvals()).toEqual(
      ['a', 'b'].map((id) => ({
        id,
        callId: `call-${id}`,
        tool: 'send',
        arguments: { to: id },
        risk: 'high',
        answerableBy: 'operator',
        message: 'Call send',
        digest: `seen-${id}`,
        answerSchema: null,
      })),
    )
    expect(server.seen.map(asked)).toEqual([['GET', '/approvals?session_id=talk&limit=100', 'Bearer me', null]])
  })

  test('reads what the server says of one, as the operator; nothing if that is refused', async () => {
    const server = await serve((request, response) =>
      request.headers.authorization === 'Bearer op'
        ? sendJson(response, 200, exampleApproval)
        : sendJson(response, 401, { code: 'unauthorized' }),
    )
    expect(await clientFor(server.url, { token: 'me', operatorToken: 'op' }).view('a', never)).toEqual(
      exampleApproval.view,
    )
    expect(await clientFor(server.url, { token: 'me' }).view('a', never)).toBe(null)
    expect(server.seen.map(({ path }) => path)).toEqual(['/approvals/a', '/approvals/a'])
  })

  test('finds nothing in a conversation that has not begun', async () => {
    const server = await serve((_, response) => sendJson(response, 404, { code: 'session_not_found' }))

    expect(await clientFor(server.url).approvals()).toEqual([])
  })

  test('are given one by one with the operator’s token, and shown as one answer', async () => {
    const server = await waitingServer()
    const client = clientFor(server.url, { token: 'me', operatorToken: 'op' })

    const events = await collect(
      client.answer(
        [
          { id: 'a', digest: 'seen-a', approved: true, arguments: { to: 'c' }, remember: true },
          { id: 'b', digest: 'seen-b', approved: false, reason: 'No.' },
        ],
        never,
      ),
    )
    await client.cancel()

    expect(events).toEqual([shown('/runs/after-a/events'), shown('/runs/after-b/events'), success])
    expect(server.seen.map(asked)).toEqual([
      [
        'POST',
        '/approvals/a',
        'Bearer op',
        { decision: 'approve', digest: 'seen-a', arguments: { to: 'c' }, remember: 'session' },
      ],
      ['GET', '/runs/after-a/events', 'Bearer me', null],
      ['POST', '/approvals/b', 'Bearer op', { decision: 'reject', digest: 'seen-b', reason: 'No.' }],
      ['GET', '/runs/after-b/events', 'Bearer me', null],
      ['POST', '/runs/after-b/cancel', 'Bearer me', {}],
    ])
  })

  test('that are one yes of several say so, and the person is not asked about the call again', async () => {
    const several = { status: 'pending', quorum: 2, decisions: [{ by: 'me', at: '', channel: 'http' }] }
    const server = await serve((request, response) => {
      if (request.path.startsWith('/approvals?')) return sendJson(response, 200, { approvals: [approval('a')] })
      if (request.path === '/approvals/a') return sendJson(response, 200, several)
      if (request.path === '/approvals/said')
        return sendJson(response, 409, { code: 'conflict', yeses: 1, needed: 3, detail: 'You have said yes already.' })
      if (request.path === '/approvals/b') return sendJson(response, 200, { continuation_run_id: 'next' })
      sendEvents(response, interrupt('a', 'c'))
    })
    const client = clientFor(server.url, { operatorToken: 'op' })
    const yes = (id: string) => ({ id, digest: 'd', approved: true })

    expect(await collect(client.answer([yes('a'), yes('said')], never))).toEqual([
      { type: 'counted', yeses: 1, needed: 2 },
      { type: 'counted', yeses: 1, needed: 3 },
      { type: 'finished', outcome: 'interrupt', approvals: [] },
    ])
    expect(await client.approvals()).toEqual([])
    const [end] = await collect(client.answer([yes('b')], never))
    expect(end).toMatchObject({ outcome: 'interrupt', approvals: [{ id: 'c' }] })
  })

  test('that come too late show what the first answer led to', async () => {
    const server = await waitingServer()
    const client = clientFor(server.url, { token: 'me' })

    expect(await collect(client.answer([{ id: 'late', digest: 'd', approved: true }], never))).toEqual([
      shown('/runs/after-late/events'),
      success,
    ])
  })

  test('may be given by an owner with a token where owners may answer, otherwise only by an operator', async () => {
    const [own, operators] = (['owner', 'operator'] as const).map((answerableBy) => ({
      ...{ id: 'a', callId: '', tool: '', arguments: {}, risk: 'low', message: '', digest: '' },
      ...{ action: '', preview: '', answerSchema: null },
      answerableBy,
    }))
    const seen = (client: ChatClient) => [own, operators].map((one) => one !== undefined && client.mayAnswer(one))

    expect(seen(clientFor('http://x'))).toEqual([false, false])
    expect(seen(clientFor('http://x', { token: 'me' }))).toEqual([true, false])
    expect(seen(clientFor('http://x', { operatorToken: 'op' }))).toEqual([true, true])
  })

  test('with a wrong operator’s token are refused, naming the variable to set', async () => {
    const server = await serve((_, response) => sendJson(response, 401, { code: 'unauthorized', detail: 'No.' }))

    await expect(
      collect(
        clientFor(server.url, { operatorToken: 'op' }).answer([{ id: 'a', digest: 'seen-a', approved: true }], never),
      ),
    ).rejects.toMatchObject({
      message: 'No.',
      mend: [
        'Set QUARTERDECK_OPERATOR_TOKEN to the operator’s token of that server. If it is lost: quarterdeck tokens --help',
      ],
    })
  })
})
