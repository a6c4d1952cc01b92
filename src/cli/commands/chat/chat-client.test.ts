import { describe, expect, onTestFinished, test } from 'vitest'
import { createIds } from '../../../domain/ids.ts'
import { type FakeServer, openSse, type SeenRequest, startFakeServer } from '../../testing/fake-server.ts'
import { instantClock } from '../../testing/test-io.ts'
import { type ChatClient, createChatClient } from './chat-client.ts'
import type { ChatEvent } from './chat-event.ts'

async function serve(answer: Parameters<typeof startFakeServer>[0]): Promise<FakeServer> {
  const server = await startFakeServer(answer)
  onTestFinished(() => server.close())
  return server
}

const clientFor = (
  baseUrl: string,
  more: { agent?: string; token?: string; operatorToken?: string } = {},
): ChatClient =>
  createChatClient({
    baseUrl,
    agent: more.agent ?? null,
    threadId: 'talk',
    token: more.token ?? null,
    operatorToken: { current: () => more.operatorToken ?? null, refused: () => {} },
    ids: createIds(() => Date.UTC(2026, 10, 15)),
    clock: instantClock(),
    fetch,
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

function runIdOf(request: SeenRequest | undefined): unknown {
  const body = request?.body
  return typeof body === 'object' && body !== null && 'runId' in body ? body.runId : undefined
}

describe('a chat with a server', () => {
  test('shows what begins after what was seen, when somebody else has answered', async () => {
    const server = await serve((request, response) => {
      const send = openSse(response)
      if (request.method === 'POST') {
        send(1, { type: 'RUN_STARTED', runId: 'waiting' })
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

    expect(await collect(client.answeredElsewhere(never))).toEqual([
      shown('Sent.'),
      { type: 'finished', outcome: 'success' },
    ])
    expect([server.seen[1]?.path, server.seen[1]?.headers['last-event-id']]).toEqual(['/sessions/talk/events', 's.2'])
  })

  test('nobody learns of answers elsewhere from a server that cannot tell', async () => {
    const server = await serve((request, response) => {
      if (request.method === 'GET') return void response.writeHead(404).end('{}')
      openSse(response)(1, finished)
      response.end()
    })
    const client = clientFor(server.url)
    await collect(client.send('Hi', never))

    expect(await collect(client.answeredElsewhere(never))).toEqual([])
  })

  test('talks through sessions where AG-UI is closed, and asks at that door once', async () => {
    const asked: string[] = []
    const server = await serve((request, response) => {
      asked.push(`${request.method} ${request.path}`)
      if (request.path.endsWith('/events')) {
        const send = openSse(response)
        send(1, { type: 'RUN_STARTED', runId: 'r' })
        send(2, text('Hi.'))
        send(3, finished)
        response.end()
        return
      }
      const isOpen = request.path.startsWith('/sessions/')
      response.writeHead(isOpen ? 202 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isOpen ? { run_id: 'r' } : { code: 'door_closed', detail: 'Closed.' }))
    })
    const client = clientFor(server.url)

    for (const message of ['a', 'b']) {
      expect(await collect(client.send(message, never))).toEqual([
        shown('Hi.'),
        expect.objectContaining({ type: 'finished' }),
      ])
    }
    expect(asked).toEqual([
      'POST /',
      'POST /sessions/talk/messages',
      'GET /runs/r/events',
      'POST /sessions/talk/messages',
      'GET /runs/r/events',
    ])
  })

  test('posts an AG-UI input to the agent and shows the run to its end', async () => {
    const server = await serve((_, response) => {
      const send = openSse(response)
      send(1, { type: 'RUN_STARTED' })
      send(2, { type: 'REASONING_MESSAGE_CONTENT', messageId: 'x', delta: 'hm' })
      send(3, { type: 'TOOL_CALL_START', toolCallId: 't', toolCallName: 'add' })
      send(4, { type: 'TOOL_CALL_ARGS', toolCallId: 't', delta: '{}' })
      send(5, { type: 'TOOL_CALL_RESULT', toolCallId: 't', messageId: 'y', content: '3' })
      send(6, text('Hello'))
      send(7, { type: 'SOMETHING_NEWER' })
      send(8, finished)
      response.end()
    })

    const events = await collect(clientFor(`${server.url}/`, { agent: 'my agent', token: 'secret' }).send('Hi', never))

    expect(events).toEqual([
      { type: 'reasoning', delta: 'hm' },
      { type: 'tool_call', id: 't', name: 'add' },
      { type: 'tool_args', id: 't', delta: '{}' },
      { type: 'tool_result', id: 't', content: '3' },
      shown('Hello'),
      { type: 'finished', outcome: 'success' },
    ])
    expect(server.seen).toEqual([
      {
        method: 'POST',
        path: '/agents/my%20agent',
        headers: expect.objectContaining({
          authorization: 'Bearer secret',
          'content-type': 'application/json',
          accept: 'text/event-stream',
        }),
        body: {
          threadId: 'talk',
          runId: expect.any(String),
          protocolVersion: '1.0',
          messages: [{ id: expect.any(String), role: 'user', content: 'Hi' }],
        },
      },
    ])
  })

  test('takes up a broken stream where it stopped, without asking for work again', async () => {
    const server = await serve((request, response) => {
      const send = openSse(response)
      if (request.method === 'POST') {
        send(1, text('One '))
        send(2, text('two '))
        setImmediate(() => response.destroy())
      } else if (request.headers['last-event-id'] === 's.2') {
        send(3, text('three'))
        response.end()
      } else {
        send(4, finished)
        response.end()
      }
    })

    const events = await collect(clientFor(server.url).send('Count', never))

    expect(events).toEqual([shown('One '), shown('two '), shown('three'), { type: 'finished', outcome: 'success' }])
    expect(server.seen.map(({ method, path, headers }) => [method, path, headers['last-event-id']])).toEqual([
      ['POST', '/', undefined],
      ['GET', `/runs/${runIdOf(server.seen[0])}/events`, 's.2'],
      ['GET', `/runs/${runIdOf(server.seen[0])}/events`, 's.3'],
    ])
  })

  test('gives up after five broken streams in a row and says how to come back', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end()
    })

    await expect(collect(clientFor(server.url).send('Hi', never))).rejects.toMatchObject({
      exitCode: 69,
      message: `The connection to ${server.url} broke (the stream ended early).`,
      mend: [`The answer goes on there and is kept: quarterdeck chat ${server.url} --session talk`],
    })
    expect(server.seen.length).toBe(6)
  })

  test('passes on why the server refuses', async () => {
    const server = await serve((_, response) => {
      response.writeHead(401, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ status: 401, code: 'unauthorized', detail: 'Send a token.\x1b[2J' }))
    })

    await expect(collect(clientFor(server.url).send('Hi', never))).rejects.toMatchObject({
      exitCode: 1,
      message: 'Send a token.\\u{1b}[2J',
      mend: [
        'Set QUARTERDECK_TOKEN to a token of that server: the one shown at its first start, or one of quarterdeck tokens create.',
      ],
    })
  })

  test('names the address when nobody answers there', async () => {
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
    const server = await serve((request, response) => {
      if (request.path.endsWith('/cancel')) {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
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
    expect(server.seen[1]).toMatchObject({ method: 'POST', path: `/runs/${runIdOf(server.seen[0])}/cancel`, body: {} })
  })
})

describe('answers to what a conversation waits for', () => {
  const approval = (id: string) => ({
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

  /** A server at which only the user of `owner` finds the runs of the conversation. */
  const waitingServer = (owner: string) =>
    serve((request, response) => {
      const json = (status: number, body: unknown) =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (request.path.startsWith('/approvals?')) return json(200, { approvals: [approval('b'), approval('a')] })
      if (request.path === '/runs/waiting') {
        return json(request.headers.authorization === `Bearer ${owner}` ? 200 : 404, {})
      }
      const decided = /^\/approvals\/(.+)$/.exec(request.path)?.[1]
      if (decided !== undefined) return json(200, { continuation_run_id: `after-${decided}` })
      const send = openSse(response)
      send(1, { type: 'RUN_STARTED', runId: 'told' })
      send(2, text(request.path))
      send(3, request.path === '/runs/after-a/events' ? interrupt('b') : finished)
      response.end()
    })

  test('lists what waits, the oldest first', async () => {
    const server = await waitingServer('op')

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
      })),
    )
    expect(server.seen.map(asked)).toEqual([['GET', '/approvals?session_id=talk&limit=100', 'Bearer me', null]])
  })

  test('finds nothing in a conversation that has not begun', async () => {
    const server = await serve((_, response) => void response.writeHead(404).end('{}'))

    expect(await clientFor(server.url).approvals()).toEqual([])
  })

  test('go into one AG-UI run, with the operator’s token', async () => {
    const server = await waitingServer('op')
    const client = clientFor(server.url, { token: 'me', operatorToken: 'op' })
    await client.approvals()

    const events = await collect(
      client.answer(
        [
          { id: 'a', digest: 'seen-a', approved: true, arguments: { to: 'c' } },
          { id: 'b', digest: 'seen-b', approved: false, reason: 'No.' },
        ],
        never,
      ),
    )
    await client.cancel()

    expect(events).toEqual([shown('/'), { type: 'finished', outcome: 'success' }])
    expect(server.seen.slice(1).map(asked)).toEqual([
      ['GET', '/runs/waiting', 'Bearer op', null],
      [
        'POST',
        '/',
        'Bearer op',
        {
          threadId: 'talk',
          runId: expect.any(String),
          protocolVersion: '1.0',
          messages: [],
          resume: [
            {
              interruptId: 'a',
              status: 'resolved',
              payload: { approved: true, digest: 'seen-a', editedArgs: { to: 'c' } },
            },
            { interruptId: 'b', status: 'resolved', payload: { approved: false, digest: 'seen-b', reason: 'No.' } },
          ],
        },
      ],
      // What is shown is what the server says that it is: somebody else may have answered first.
      ['POST', '/runs/told/cancel', 'Bearer me', {}],
    ])
  })

  test('that are to be remembered go first, each by itself, and all is shown as one answer', async () => {
    const server = await waitingServer('op')
    const client = clientFor(server.url, { token: 'me', operatorToken: 'op' })
    await client.approvals()

    const events = await collect(
      client.answer(
        [
          { id: 'b', digest: 'seen-b', approved: true },
          { id: 'a', digest: 'seen-a', approved: true, remember: true },
        ],
        never,
      ),
    )

    expect(events).toEqual([shown('/runs/after-a/events'), shown('/'), { type: 'finished', outcome: 'success' }])
    expect(server.seen.slice(2).map(asked)).toEqual([
      ['POST', '/approvals/a', 'Bearer op', { decision: 'approve', digest: 'seen-a', remember: 'session' }],
      ['GET', '/runs/after-a/events', 'Bearer me', null],
      ['POST', '/', 'Bearer op', expect.objectContaining({ resume: [expect.objectContaining({ interruptId: 'b' })] })],
    ])
  })

  test('of an operator who is not the one who talks are given one by one, where any session can be answered', async () => {
    const server = await waitingServer('me')
    const client = clientFor(server.url, { token: 'me', operatorToken: 'op' })
    await client.approvals()

    await collect(
      client.answer(
        [
          { id: 'a', digest: 'seen-a', approved: true },
          { id: 'b', digest: 'seen-b', approved: false, reason: 'No.' },
        ],
        never,
      ),
    )

    expect(server.seen.slice(2).map(asked)).toEqual([
      ['POST', '/approvals/a', 'Bearer op', { decision: 'approve', digest: 'seen-a' }],
      ['GET', '/runs/after-a/events', 'Bearer me', null],
      ['POST', '/approvals/b', 'Bearer op', { decision: 'reject', digest: 'seen-b', reason: 'No.' }],
      ['GET', '/runs/after-b/events', 'Bearer me', null],
    ])
  })

  test('may be given by whoever talks with a token where they own the question, otherwise by an operator alone', async () => {
    const [own, operators] = (['owner', 'operator'] as const).map((answerableBy) => ({
      ...{ id: 'a', callId: '', tool: '', arguments: {}, risk: 'low', message: '', digest: '' },
      answerableBy,
    }))
    const seen = (client: ChatClient) => [own, operators].map((one) => one !== undefined && client.mayAnswer(one))

    expect(seen(clientFor('http://x'))).toEqual([false, false])
    expect(seen(clientFor('http://x', { token: 'me' }))).toEqual([true, false])
    expect(seen(clientFor('http://x', { operatorToken: 'op' }))).toEqual([true, true])
  })

  test('with a wrong operator’s token are refused with the variable to set', async () => {
    const server = await serve((_, response) => void response.writeHead(401).end('{"detail":"No."}'))

    await expect(
      collect(
        clientFor(server.url, { operatorToken: 'op' }).answer([{ id: 'a', digest: 'seen-a', approved: true }], never),
      ),
    ).rejects.toMatchObject({
      mend: [
        'Set QUARTERDECK_OPERATOR_TOKEN to the operator’s token of that server. A lost one: quarterdeck tokens --help',
      ],
    })
  })
})
