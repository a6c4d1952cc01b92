import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agentToken, operatorToken, until, userToken } from '../../http/testing/server-fixture.ts'
import { initialize, messagesIn, openMcpDoor, otherAgentToken } from './testing/open-mcp-door.ts'

const call = (id: number, name: string, args: Record<string, unknown> = {}, meta?: Record<string, unknown>) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) },
})

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

describe.each(['legacy', 'modern'] as const)('a %s client', (era) => {
  test('lists the tools and calls one', async () => {
    const { connect } = await openMcpDoor()
    const { client } = await connect(era)

    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['echo', 'hold', 'refused', 'broken'])
    expect(tools[0]).toMatchObject({
      title: 'Echo',
      description: 'Says it again.',
      annotations: { readOnlyHint: true },
      inputSchema: { type: 'object', required: ['text'], properties: { times: { type: 'integer', default: 1 } } },
    })
    expect(client.getInstructions()).toBe('Ask before you write.')
    expect(await client.callTool({ name: 'echo', arguments: { text: 'Hi' } })).toMatchObject({
      content: [{ type: 'text', text: '{"text":"Hi","times":1}' }],
      structuredContent: { text: 'Hi', times: 1 },
    })
  })

  test('tells the tool who calls', async () => {
    const { connect, hold } = await openMcpDoor()
    const { client } = await connect(era, {
      query: '?session_id=s1&channel_id=C1&limit_seconds=90',
      name: 'claude-code',
    })

    const called = hold.next()
    const answer = client.callTool({ name: 'hold', arguments: {}, _meta: { 'claudecode/toolUseId': 'toolu_1' } })
    const { context, answer: end } = await called
    end({ done: true })
    await answer

    expect(context.agent).toEqual({
      principal: {
        owner: 'ada',
        role: 'agent',
        hasToken: true,
        tokenId: 'token-of-an-agent',
        workspace: '/home/ada/shop',
      },
      workspace: '/home/ada/shop',
      sessionId: 's1',
      channelId: 'C1',
      client: { name: 'claude-code', version: '1.0.0' },
      hostLimitMs: 90_000,
      era,
      connectionId: expect.any(String),
      isLasting: era === 'legacy',
    })
    expect(context.limitMs).toBe(80_000)
  })

  test('hears at once what is going on, and every 15 seconds, in rising numbers', async () => {
    const { connect, hold, clock } = await openMcpDoor()
    const { client } = await connect(era)
    const heard: unknown[] = []

    const called = hold.next()
    const answer = client.callTool(
      { name: 'hold', arguments: { say: 'Waiting for Ada' } },
      { onprogress: (progress) => heard.push(progress) },
    )
    const { answer: end, context } = await called
    await until(() => heard.length === 1)
    clock.advance(15_000)
    await until(() => heard.length === 2)
    context.progress('Ada looks')
    await until(() => heard.length === 3)
    clock.advance(15_000)
    await until(() => heard.length === 4)
    end({})
    await answer
    clock.advance(60_000)

    expect(heard).toEqual([
      { progress: 1, message: 'Waiting for Ada' },
      { progress: 2, message: 'Waiting for Ada' },
      { progress: 3, message: 'Ada looks' },
      { progress: 4, message: 'Ada looks' },
    ])
  })

  test('gets an error that names the field of a wrong input', async () => {
    const { connect } = await openMcpDoor()
    const { client } = await connect(era)

    const wrong = await client.callTool({ name: 'echo', arguments: { text: 7, times: 0, more: 1 } })

    expect(wrong).toMatchObject({
      isError: true,
      structuredContent: { status: 'error', error_code: 'invalid_input', error_message: expect.any(String) },
    })
    const text = JSON.stringify(wrong.structuredContent)
    expect(['text: ', 'times: ', 'more'].filter((field) => !text.includes(field))).toEqual([])
  })

  test('gets the code of a failure, and never the text of a bug', async () => {
    const { connect, lines } = await openMcpDoor()
    const { client } = await connect(era)

    expect(await client.callTool({ name: 'refused', arguments: {} })).toMatchObject({
      isError: true,
      structuredContent: { status: 'error', error_code: 'conflict', error_message: 'Somebody else was first.' },
    })
    const broken = await client.callTool({ name: 'broken', arguments: {} })
    expect(broken).toMatchObject({ isError: true, structuredContent: { error_code: 'internal_error' } })
    expect(JSON.stringify(broken)).not.toContain('secret')
    expect(lines.filter(({ level }) => level === 'error').map(({ tool }) => tool)).toEqual(['broken'])
    await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({ code: -32602 })
  })

  test('can cancel a call', async () => {
    const { connect, hold } = await openMcpDoor()
    const { client } = await connect(era)
    const abort = new AbortController()

    const called = hold.next()
    const answer = client.callTool({ name: 'hold', arguments: {} }, { signal: abort.signal })
    const { context } = await called
    abort.abort()

    await expect(answer).rejects.toThrow()
    await until(() => context.signal.aborted)
    expect(await client.callTool({ name: 'echo', arguments: { text: 'still here' } })).toMatchObject({
      structuredContent: { text: 'still here' },
    })
  })

  test('sends a diff of 5 MB', async () => {
    const { connect } = await openMcpDoor()
    const { client } = await connect(era)

    const answer = await client.callTool({ name: 'echo', arguments: { text: '+é\n'.repeat(1_250_000) } })

    expect(answer.isError).toBe(undefined)
  })

  test('of one bridge has the same connection in every call', async () => {
    const { connect, hold } = await openMcpDoor()
    const { client } = await connect(era, { query: '?bridge_id=bridge-1234' })
    const ids: string[] = []
    for (let i = 0; i < 2; i += 1) {
      const called = hold.next()
      const answer = client.callTool({ name: 'hold', arguments: {} })
      const { context, answer: end } = await called
      expect(context.agent.isLasting).toBe(true)
      ids.push(context.agent.connectionId)
      end({})
      await answer
    }

    expect(ids).toEqual(['token-of-an-agent:bridge-1234', 'token-of-an-agent:bridge-1234'])
  })

  test('is told by a call in work what nobody asked for', async () => {
    const { connect, hold, clients } = await openMcpDoor()
    const { client, transport } = await connect(era)
    const nudges: unknown[] = []
    client.fallbackNotificationHandler = async ({ method, params }) => void nudges.push({ method, params })
    // Only the call is left.
    if (era === 'legacy') await until(() => clients.isOpen(transport.sessionId ?? ''))
    const called = hold.next()
    const answer = client.callTool({ name: 'hold', arguments: {} })
    const { context, answer: end } = await called
    const { connectionId } = context.agent

    const way = clients.push(connectionId, { method: 'quarterdeck/nudge', params: { n: 1 }, message: 'Wake up' })

    expect(way).toBe(era === 'legacy' ? 'stream' : 'call')
    await until(() => nudges.length > 0)
    expect(nudges[0]).toMatchObject({ method: 'quarterdeck/nudge', params: { n: 1 } })
    end({})
    await answer
    if (era === 'legacy') return
    await until(() => !clients.isOpen(connectionId))
    expect(clients.push(connectionId, { method: 'quarterdeck/nudge', params: {}, message: '' })).toBe(null)
  })

  test('that waits gets its answer when the server stops', async () => {
    const { connect, hold, door } = await openMcpDoor()
    const { client } = await connect(era)
    const called = hold.next()
    const answer = client.callTool({ name: 'hold', arguments: {} })
    const { context, answer: end } = await called
    context.signal.addEventListener('abort', () => end({ status: 'pending', why: context.signal.reason }))

    await door.close()

    expect(await answer).toMatchObject({ structuredContent: { status: 'pending', why: 'the server stops' } })
  })
})

describe('a legacy session', () => {
  test('is resumed with Last-Event-ID and loses nothing', async () => {
    const { post, begin, url, hold } = await openMcpDoor()
    const headers = { 'Mcp-Session-Id': await begin(), 'MCP-Protocol-Version': '2025-11-25' }
    const called = hold.next()
    const abort = new AbortController()
    const first = await post(call(1, 'hold', { say: 'Waiting' }, { progressToken: 'p' }), headers, {
      signal: abort.signal,
    })
    const { answer, context } = await called
    const reader = first.body?.getReader()
    let seen = ''
    while (!seen.includes('notifications/progress')) {
      seen += new TextDecoder().decode((await reader?.read())?.value)
    }
    const lastEventId = /^id: (.*)$/m.exec(seen)?.[1] ?? ''
    abort.abort()
    await reader?.closed.catch(() => {})

    expect(context.signal.aborted).toBe(false)
    answer({ decided: true })
    const resumed = await fetch(url, {
      headers: {
        Authorization: `Bearer ${agentToken.token}`,
        Accept: 'text/event-stream',
        ...headers,
        'Last-Event-ID': lastEventId,
      },
    })

    const messages = messagesIn(await resumed.text()).map(({ message }) => message)
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { structuredContent: { decided: true } } })
  })

  test('ends with DELETE, and belongs to one token', async () => {
    const { post, begin, url, ended } = await openMcpDoor()
    const id = await begin()
    const ask = (token: string) =>
      post(call(1, 'echo', { text: 'Hi' }), { 'Mcp-Session-Id': id, Authorization: `Bearer ${token}` })
    const end = () =>
      fetch(url, { method: 'DELETE', headers: { Authorization: `Bearer ${agentToken.token}`, 'Mcp-Session-Id': id } })

    expect((await ask(otherAgentToken.token)).status).toBe(404)
    expect((await ask(agentToken.token)).status).toBe(200)
    expect((await end()).status).toBe(200)
    expect(ended).toEqual([id])
    const gone = await ask(agentToken.token)
    expect([gone.status, await gone.json()]).toEqual([
      404,
      {
        jsonrpc: '2.0',
        id: null,
        error: {
          code: -32000,
          message: 'This MCP session has ended. Begin a new one with "initialize".',
          data: { code: 'session_not_found', correlation_id: expect.any(String) },
        },
      },
    ])
  })

  test('makes room for a newer one of the same token when there are too many', async () => {
    const { post, begin } = await openMcpDoor({ door: { limits: { perToken: 2 } } })
    const status = async (id: string, token = agentToken.token) =>
      (await post(call(1, 'echo', { text: 'Hi' }), { 'Mcp-Session-Id': id, Authorization: `Bearer ${token}` })).status
    const others = await begin(otherAgentToken.token)
    const [one, two, three] = [await begin(), await begin(), await begin()]

    expect([await status(one), await status(two), await status(three)]).toEqual([404, 200, 200])
    expect(await status(others, otherAgentToken.token)).toBe(200)
  })

  test('stays while one of its calls waits for an answer', async () => {
    const { post, begin, hold, clock } = await openMcpDoor({ door: { limits: { perToken: 2 } } })
    const waiting = await begin()
    const held = hold.next()
    const answer = post(call(1, 'hold', {}), { 'Mcp-Session-Id': waiting })
    const { answer: say } = await held
    clock.advance(25 * 60 * 60 * 1000)
    const [other, last] = [await begin(), await begin()]
    say({ done: true })

    expect(messagesIn(await (await answer).text()).at(-1)?.message).toMatchObject({
      id: 1,
      result: { structuredContent: { done: true } },
    })
    const status = async (id: string) => (await post(call(2, 'echo', { text: 'Hi' }), { 'Mcp-Session-Id': id })).status
    expect([await status(waiting), await status(other), await status(last)]).toEqual([200, 404, 200])
  })

  test('ends after a day of silence', async () => {
    const { post, begin, clock } = await openMcpDoor()
    const id = await begin()
    clock.advance(25 * 60 * 60 * 1000)
    await begin()

    expect((await post(call(1, 'echo', { text: 'Hi' }), { 'Mcp-Session-Id': id })).status).toBe(404)
  })

  test('is begun by a client that still sends an old one', async () => {
    const { post } = await openMcpDoor()

    expect((await post(initialize, { 'Mcp-Session-Id': 'gone' })).status).toBe(200)
  })

  test('answers a batch', async () => {
    const { post, begin } = await openMcpDoor()
    const headers = { 'Mcp-Session-Id': await begin() }

    const answer = await post([call(1, 'echo', { text: 'a' }), call(2, 'echo', { text: 'b' })], headers)

    const results = messagesIn(await answer.text()).map(({ message }) => message.id)
    expect(results.sort()).toEqual([1, 2])
  })
})

describe('what is refused', () => {
  const rpcError = async (answer: Response) => {
    const body = JSON.parse(await answer.text())
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(body).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number), message: expect.any(String) } })
    return [answer.status, body.error.code, body.error.data?.code ?? null]
  }

  test.each([
    ['no token', { Authorization: 'Bearer none' }, [401, -32000, 'unauthorized']],
    ['a wrong token', { Authorization: 'Bearer wrong-wrong-wrong' }, [401, -32000, 'unauthorized']],
    ['a user’s token', { Authorization: `Bearer ${userToken.token}` }, [403, -32000, 'forbidden']],
    ['the operator’s token', { Authorization: `Bearer ${operatorToken.token}` }, [403, -32000, 'forbidden']],
    ['a page of somebody else', { Origin: 'https://evil.example' }, [403, -32000, 'origin_not_allowed']],
    ['another content type', { 'Content-Type': 'text/plain' }, [415, -32000, 'unsupported_media_type']],
    ['a client that reads no streams', { Accept: 'application/json' }, [406, -32000, null]],
  ])('%s', async (_name, headers, expected) => {
    const { post } = await openMcpDoor()

    expect(await rpcError(await post(initialize, headers))).toEqual(expected)
  })

  test.each([
    ['broken JSON', '{"jsonrpc":', [400, -32700, 'malformed_json']],
    ['no JSON-RPC', '{"hello":1}', [400, -32600, null]],
    ['a number', '7', [400, -32600, null]],
    ['an empty batch', '[]', [400, -32600, null]],
    ['a call without a session', JSON.stringify(call(1, 'echo')), [400, -32600, 'invalid_request']],
  ])('%s', async (_name, body, expected) => {
    const { post } = await openMcpDoor()

    const [status, code, own] = await rpcError(await post(body))

    expect([status, code, expected[2] === null ? null : own]).toEqual(expected)
  })

  test('a modern request whose headers say something else', async () => {
    const { post } = await openMcpDoor()
    const body = call(1, 'echo', { text: 'Hi' }, modernMeta)
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'echo' }

    expect((await post(body, headers)).status).toBe(200)
    for (const wrong of [
      { 'Mcp-Method': 'tools/list' },
      { 'Mcp-Name': 'hold' },
      { 'MCP-Protocol-Version': '2025-11-25' },
    ]) {
      expect(await rpcError(await post(body, { ...headers, ...wrong }))).toEqual([400, -32020, null])
    }
  })

  test('a modern request of an unknown version', async () => {
    const { post } = await openMcpDoor()
    const body = call(
      1,
      'echo',
      { text: 'Hi' },
      { ...modernMeta, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' },
    )
    const headers = { 'MCP-Protocol-Version': '2099-01-01', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'echo' }

    const [status, code] = await rpcError(await post(body, headers))

    expect([status, code]).toEqual([400, -32022])
  })

  test('12 MB', async () => {
    const { post } = await openMcpDoor()

    const answer = await post(call(1, 'echo', { text: 'x'.repeat(12_000_000) }))

    expect(await rpcError(answer)).toEqual([413, -32000, 'body_too_large'])
  })

  test('everything while the door is closed', async () => {
    const { post, url } = await openMcpDoor({ server: { doors: ['rest'] } })

    expect(await rpcError(await post(initialize))).toEqual([404, -32000, 'door_closed'])
    expect(await rpcError(await fetch(url.replace('/mcp', '/sse')))).toEqual([404, -32000, 'door_closed'])
  })

  test('a host that is not ours, other methods, and paths below', async () => {
    const { url, server, post } = await openMcpDoor()
    const { request } = await import('node:http')
    const foreign = await new Promise<string>((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers: { Host: 'evil.example' } }, (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk) => {
          text += chunk
        })
        answer.on('end', () => resolve(`${answer.statusCode} ${text}`))
      })
      sent.on('error', reject)
      sent.end()
    })

    expect(foreign).toMatch(/^421 \{"jsonrpc":"2.0"/)
    expect(await rpcError(await fetch(url, { method: 'PUT' }))).toEqual([405, -32000, 'method_not_allowed'])
    expect(await rpcError(await fetch(`${url}/more`))).toEqual([404, -32000, 'route_not_found'])
    expect((await post(initialize, {}, { method: 'HEAD', body: null })).status).toBe(405)
    expect(server.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test.each([
    ['GET', '/sse'],
    ['POST', '/sse'],
    ['GET', '/messages'],
    ['POST', '/messages'],
  ])('%s %s, which says where to go', async (method, path) => {
    const { url } = await openMcpDoor()

    const answer = await fetch(url.replace('/mcp', path), { method })

    expect(answer.status).toBe(410)
    expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining('/mcp') } })
  })
})

describe('the URL', () => {
  function folders() {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-mcp-')))
    onTestFinished(() => rmSync(root, { recursive: true }))
    mkdirSync(join(root, 'shop', 'web'), { recursive: true })
    mkdirSync(join(root, 'shop-2'))
    symlinkSync(join(root, 'shop-2'), join(root, 'shop', 'out'))
    symlinkSync(join(root, 'shop', 'web'), join(root, 'in'))
    return root
  }

  test('names a workspace that lies in the token’s, by its real path', async () => {
    const root = folders()
    const token = { ...agentToken, workspace: join(root, 'shop') }
    const { url, hold, connect } = await openMcpDoor({ server: { auth: { tokens: () => [token] } } })
    const at = (workspace: string) => `?workspace=${encodeURIComponent(workspace)}`
    for (const [asked, found] of [
      ['shop', 'shop'],
      ['shop/web', 'shop/web'],
      ['in', 'shop/web'],
      ['shop-2/../shop', 'shop'],
    ]) {
      const { client } = await connect('modern', { query: at(join(root, asked ?? '')) })
      const called = hold.next()
      const answer = client.callTool({ name: 'hold', arguments: {} })
      const { context, answer: end } = await called
      expect(context.agent.workspace).toBe(join(root, found ?? ''))
      end({})
      await answer
    }
    for (const asked of ['shop-2', 'shop/out', 'shop/gone', '', 'shop/../shop-2']) {
      const answer = await fetch(`${url}${at(join(root, asked))}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token.token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(initialize),
      })
      expect([answer.status, JSON.parse(await answer.text()).error.message]).toEqual([
        403,
        expect.stringContaining('which this token is bound to'),
      ])
    }
  })

  test.each([
    ['workspace=shop', 400],
    ['workspace=%2Fa%00b', 400],
    [`session_id=${'x'.repeat(200)}`, 400],
    ['session_id=a%0Ab', 400],
    ['bridge_id=../..', 400],
    ['limit_seconds=0', 400],
    ['limit_seconds=86401', 400],
    ['limit_seconds=1e3', 400],
  ])('%s is refused', async (query, status) => {
    const { url } = await openMcpDoor()

    const answer = await fetch(`${url}?${query}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${agentToken.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(initialize),
    })

    expect([answer.status, JSON.parse(await answer.text()).jsonrpc]).toEqual([status, '2.0'])
  })

  test('may have the token, which no log line shows', async () => {
    const { url, server } = await openMcpDoor()
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }

    const answer = await fetch(`${url}?token=${agentToken.token}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(initialize),
    })

    expect([answer.status, messagesIn(await answer.text()).length]).toEqual([200, 1])
    await until(() => server.lines.length > 0)
    expect(JSON.stringify(server.lines)).not.toContain(agentToken.token)
  })
})
