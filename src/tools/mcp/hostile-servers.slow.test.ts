// Servers that crash, hang, lie and send too much.

import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import type { GivenAnswer } from '../../domain/agent/question.ts'
import type { McpServerSettings } from '../../domain/agent/tool-settings.ts'
import { type Clock, createSystemClock } from '../../domain/clock.ts'
import { createConnections } from '../../outgoing/connections.ts'
import { createProcessGroups, type ProcessGroups } from '../process/process-groups.ts'
import { isRunning } from '../process/testing/is-running.ts'
import { never, toolCall } from '../testing/tool-call.ts'
import type { ToolCallRequest } from '../tool.ts'
import { fake, openServer, script } from './testing/open-server.ts'

const failure = (text: string) => ({
  code: 'tool_failed',
  message: expect.stringContaining(`The MCP server "sample" ${text}`),
})

describe('a server that goes away', () => {
  test('a call in flight fails and is not repeated; the next call finds the server restarted', async () => {
    await using open = openServer(fake())
    const before = await open.call('pid')
    const exit = await open.tool('exit')

    await expect(exit.call(toolCall({}), never)).rejects.toMatchObject(
      failure('went away during the call. It ended with exit code 9. Whether it took effect is unknown.'),
    )
    expect(isRunning(Number(before.content))).toBe(false)
    const after = await open.call('pid')
    expect(after).toEqual({ content: expect.stringMatching(/^\d+$/), isError: false })
    expect(after.content).not.toBe(before.content)
    expect(open.logged.filter(([level]) => level === 'info').map(([, message, fields]) => [message, fields])).toEqual([
      ['The MCP server is connected.', { protocol: '2025-06-18' }],
      ['The MCP server is gone.', { reason: 'It ended with exit code 9.' }],
      ['The MCP server is connected.', { protocol: '2025-06-18' }],
    ])
  })

  test('the error of a server that ends at once says why, in the words of its stderr', async () => {
    await using open = openServer(fake('exit'))

    await expect(open.tools()).rejects.toMatchObject(
      failure('stopped while it was starting. It ended with exit code 4. The end of its stderr: no config file'),
    )
    expect(open.server.trouble()).toContain('The end of its stderr: no config file')
    expect(open.logged).toContainEqual(['debug', 'The MCP server wrote to stderr.', { content: 'no config file' }])
  })

  test('its stderr is shown without secrets and colours, and only its end', async () => {
    const code = `process.stderr.write("line 1\\nline 2\\n".repeat(50) + "\\u001b[31mbad key " + process.env.SHOP_KEY + "\\u001b[0m\\n")
      process.stderr.write("token sk-abcdefgh12345678\\n" + "x".repeat(1500))
      process.exit(1)`
    const { connection } = script('-e', code)
    if (connection.kind !== 'stdio') throw new Error('the sample is broken')
    await using open = openServer({ connection: { ...connection, env: { SHOP_KEY: 'hush-hush-hush' } } })

    const error: unknown = await open.tools().catch((thrown: unknown) => thrown)

    const message = error instanceof Error ? error.message : ''
    expect(message).toMatch(/The end of its stderr: …x{1000}/)
    expect(message).not.toMatch(/hush|sk-abc|line 1/)
  })

  test('the error names a command or directory that does not exist', async () => {
    await using noCommand = openServer({})
    await expect(noCommand.tools()).rejects.toMatchObject(
      failure('cannot be started: there is no command "/no/such/command". Install it or write its full path.'),
    )
    const { connection } = script('x.ts')
    if (connection.kind !== 'stdio') throw new Error('the sample is broken')
    await using noDirectory = openServer({ connection: { ...connection, directory: '/no/such/directory' } })
    await expect(noDirectory.tools()).rejects.toMatchObject(
      failure('cannot be started: there is no directory "/no/such/directory".'),
    )
  })

  test('closing ends a server that ignores it, with its child processes', async () => {
    const open = openServer(fake('fork'))
    const pids = [Number((await open.call('pid')).content)]
    const [, , fields] = open.logged.find(([, message]) => message === 'The MCP server wrote to stderr.') ?? []
    pids.push(Number(fields?.content))
    expect(pids.map(isRunning)).toEqual([true, true])

    await open.server.close()

    expect(pids.map(isRunning)).toEqual([false, false])
    await expect(open.tools()).rejects.toMatchObject({ code: 'shutting_down' })
  })

  test('closing a server that is starting leaves nothing behind', async () => {
    const open = openServer(fake('silent'))
    const tools = open.tools()
    const failed = expect(tools).rejects.toMatchObject({ code: 'shutting_down' })
    await open.server.close()
    await failed
  })
})

describe('a server that does not answer', { timeout: 120_000 }, () => {
  test('is given up after the connect timeout', async () => {
    await using open = openServer(fake('silent'), { connectTimeoutMs: 300 })

    await expect(open.tools()).rejects.toMatchObject(
      failure('did not answer within 0.3 s. If it is downloaded on first use (npx, uvx), install it beforehand.'),
    )
  })

  test('is shown with what it wrote to stderr, while it is waited for and when it is given up', async () => {
    const silent = script('-e', 'process.stderr.write("waiting for the database\\n"); setInterval(() => {}, 1000)')
    const said = 'The end of its stderr: waiting for the database'
    await using patient = openServer(silent, { patienceMs: 3_000 })
    await patient.server.start()
    expect(patient.server.trouble()).toContain(said)
    await using open = openServer(silent, { connectTimeoutMs: 3_000 })
    await expect(open.tools()).rejects.toMatchObject({ message: expect.stringContaining(said) })
  })

  test('is given up too when only its list of tools does not come', async () => {
    await using open = openServer(fake('list-silent'), { listTimeoutMs: 600 })

    await expect(open.tools()).rejects.toMatchObject({
      message: expect.stringContaining('did not answer within 0.6 s'),
    })
  })

  test.each(['silent', 'list-silent'])(
    'is waited for once, and its process ends when we close it: %s',
    async (mode) => {
      const pids: (number | undefined)[] = []
      const open = openServer(fake(mode), { patienceMs: 500, processes: watched(pids) })
      expect(open.server.trouble()).toBe('The MCP server "sample" is still starting.')
      await open.server.start()
      const trouble = 'The MCP server "sample" did not answer within 0.5 s. Still trying to connect.'
      expect(open.server.trouble()).toBe(trouble)
      await expect(open.server.tools(never)).rejects.toMatchObject({ code: 'tool_failed', message: trouble })
      await open.server.close()

      expect(pids.map((pid) => isRunning(Number(pid)))).toEqual([false])
    },
  )

  test('in time is used as soon as it answers', async () => {
    await using open = openServer(fake('slow'), { patienceMs: 50 })
    await open.server.start()
    expect(open.server.trouble()).toContain('did not answer within 0.05 s')
    await vi.waitFor(() => expect(open.server.trouble()).toBe(null), { timeout: 60_000 })

    expect(await open.call('pid')).toMatchObject({ isError: false })
  })

  test('over HTTP is not waited for either', async () => {
    await using http = await listen(() => {})
    await using open = openServer(http.settings, { patienceMs: 50 })
    await open.server.start()

    expect(open.server.trouble()).toBe('The MCP server "sample" did not answer within 0.05 s. Still trying to connect.')
  })

  test('anything after a call was given up is restarted, and the next call works', async () => {
    const pids: (number | undefined)[] = []
    await using open = openServer(fake(), { clock: hasty([5_000]), processes: watched(pids) })
    const pid = await open.tool('pid')
    await open.call('freeze')
    await expect(pid.call(toolCall({}), AbortSignal.timeout(50))).rejects.toThrow()
    await vi.waitFor(() => expect(pids.length).toBe(2), { timeout: 60_000 })

    expect(await open.call('pid')).toEqual({ content: String(pids[1]), isError: false })
    expect(isRunning(Number(pids[0]))).toBe(false)
  })

  test('else is told of the trace of each call', async () => {
    await using open = openServer(fake())
    const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=1' }
    const meta = await open.tool('meta')
    const { content } = await meta.call({ ...toolCall({}), trace }, never)

    expect(JSON.parse(content)).toMatchObject(trace)
    expect(JSON.parse((await open.call('meta')).content)).not.toHaveProperty('traceparent')
  })

  test('a call but answers a ping keeps its process', async () => {
    const pids: (number | undefined)[] = []
    await using open = openServer(fake(), { processes: watched(pids) })
    const wait = await open.tool('wait')
    await expect(wait.call(toolCall({}), AbortSignal.timeout(1))).rejects.toThrow()
    await open.call('cancelled')

    expect(await open.call('pid')).toEqual({ content: String(pids[0]), isError: false })
    expect(pids.length).toBe(1)
  })

  test('when its tools have changed is restarted, and its last list is used meanwhile', async () => {
    const pids: (number | undefined)[] = []
    let isChanged = false
    await using open = openServer(fake('lists-once'), {
      clock: hasty([1_000, 60_000], () => isChanged),
      processes: watched(pids),
    })
    const before = await open.tools()
    await open.call('change')
    isChanged = true

    expect(await open.tools()).toBe(before)
    isChanged = false
    await vi.waitFor(() => expect(pids.length).toBe(2), { timeout: 60_000 })
  })

  test('an aborted call is cancelled at the server', async () => {
    await using open = openServer(fake())
    const wait = await open.tool('wait')
    const controller = new AbortController()
    const call = wait.call(toolCall({}), controller.signal)
    const failed = expect(call).rejects.toThrow('out of time')
    await open.call('pid')
    controller.abort(new Error('out of time'))
    await failed

    expect(await open.call('cancelled')).toEqual({ content: '1', isError: false })
  })
})

describe('a server that sends too much', () => {
  test('may print other things before it speaks MCP', async () => {
    await using open = openServer(fake('banner'))

    expect((await open.tools()).length).toBe(14)
  })

  test.each([
    ['noise', 'It writes something other than MCP messages to its output.'],
    ['endless-line', 'It sent a message of more than 10 MB.'],
  ])('is ended when it goes on with other things: %s', async (mode, reason) => {
    await using open = openServer(fake(mode))

    await expect(open.tools()).rejects.toMatchObject(failure(`cannot be used. ${reason}`))
  })

  test('has long results cut, and a huge one ends the connection', async () => {
    await using open = openServer(fake())
    const { content } = await open.call('big')

    expect(content.length).toBeLessThan(1_000_100)
    expect(content.slice(1_000_000)).toBe('\n[cut here: the whole text has 2000000 characters]')
    await expect(open.call('huge')).rejects.toMatchObject(
      failure('went away during the call. It sent a message of more than 10 MB. Whether it took effect is unknown.'),
    )
  })

  test('has only some of its many progress reports passed on', async () => {
    await using open = openServer(fake())
    const heard: unknown[] = []
    expect(await open.call('progress', {}, { progress: (...args) => void heard.push(args) })).toEqual({
      content: 'done',
      isError: false,
    })

    expect(heard[0]).toEqual([1, 1_000, 'working'])
    expect(heard.at(-1)).toEqual([1_000, 1_000, 'working'])
    expect(heard.length).toBeLessThan(50)
  })

  test('has the first 500 of its wanted tools offered', async () => {
    await using all = openServer(fake('many'))
    expect((await all.tools()).map((tool) => tool.name)).toEqual(Array.from({ length: 500 }, (_, i) => `tool_${i}`))
    expect(all.logged.filter(([level]) => level === 'warn')).toEqual([
      [
        'warn',
        'The MCP server has more than 500 tools. The rest is left out. Choose tools with `allow` and `deny`.',
        undefined,
      ],
    ])
    await using some = openServer({ ...fake('many'), allow: ['tool_299?'] })
    expect((await some.tools()).map((tool) => tool.name)).toEqual(Array.from({ length: 10 }, (_, i) => `tool_299${i}`))
  })

  test('has an endless list cut off', async () => {
    await using open = openServer(fake('endless'))

    expect(await open.tools()).toEqual([])
  })
})

describe('a server with odd tools', () => {
  test('gets safe names and full descriptions, and loses only the tools that cannot be used', async () => {
    await using open = openServer(fake('names'))
    const tools = await open.tools()

    expect(tools.map(({ name, description, parameters, returns }) => [name, description, parameters, returns])).toEqual(
      [
        [
          'rm__rf__',
          'The tool "rm -rf /" of the MCP server "sample".',
          { type: 'object', properties: { path: { type: 'string' } } },
          null,
        ],
        ['get_sum_bc2dff', 'Adds two numbers.', { type: 'object', properties: {} }, null],
        [
          'get_sum_2fb224',
          'short – The tool "get-sum" of the MCP server "sample".',
          { type: 'object', properties: {} },
          { type: 'object' },
        ],
        ['no_schema_at_all', 'Takes no arguments.', { type: 'object', properties: {} }, null],
      ],
    )
    expect(open.logged.filter(([level]) => level === 'warn')).toEqual([
      [
        'warn',
        'Some tools of the MCP server cannot be used and are left out.',
        {
          count: 5,
          problems: [
            'a list: its arguments are not an object but "array"',
            'long: the schema of its arguments is longer than 100000 characters',
            'task: it runs only as a task, which is not supported',
            expect.stringMatching(/^\(without a name\): name: /),
            expect.stringMatching(/^\(without a name\): /),
          ],
        },
      ],
    ])
    // The server gets the name that it gave the tool.
    expect(await open.call('rm__rf__', { path: '/' })).toEqual({ content: 'called rm -rf /', isError: false })
  })

  test('that change has its list read again', async () => {
    await using open = openServer(fake())
    const before = await open.tools()
    expect(await open.tools()).toBe(before)
    await open.call('change')
    const after = await open.tools()

    expect(after.length).toBe(before.length + 1)
    expect(after.at(-1)).toMatchObject({ name: 'added', description: 'It was not there before.' })
  })

  test('passes its own errors on to the model', async () => {
    await using open = openServer(fake())

    expect(await open.call('fail')).toEqual({ content: 'the arguments are odd', isError: true })
  })

  test('may not ask for a model or our folders, but may ask a person and ping us', async () => {
    await using open = openServer(fake())
    const asked: unknown[] = []
    const hold: ToolCallRequest['hold'] = async (question) => {
      asked.push(question)
      return { type: 'answered', value: {} }
    }

    expect(await open.call('ask', {}, { hold })).toEqual({ content: '-32601 ok -32601 ok', isError: false })
    expect(asked).toEqual([
      { message: 'The MCP server "sample" asks: Your name?', schema: { type: 'object', properties: {} } },
    ])
  })

  test('that asks while several calls are open gets no answer: nobody knows whose question it is', async () => {
    await using open = openServer(fake())
    const hold = () => Promise.reject(new Error('nobody may be asked'))
    const stop = new AbortController()
    const waiting = open.call('wait', {}, { signal: stop.signal }).catch(() => {})
    await open.call('pid')

    expect(await open.call('ask', {}, { hold })).toEqual({ content: '-32601 ok -32601 ok', isError: false })
    expect(open.logged).toContainEqual([
      'warn',
      'A question of an MCP server is cancelled.',
      { reason: '2 calls are open' },
    ])
    stop.abort()
    await waiting
  })

  test('that knows only the protocol of 2026 can be used too', async () => {
    await using open = openServer(fake('modern'))

    expect(await open.call('pid')).toEqual({ content: expect.stringMatching(/^\d+$/), isError: false })
    expect(open.logged).toContainEqual(['info', 'The MCP server is connected.', { protocol: '2026-07-28' }])
    await expect(open.call('input')).rejects.toMatchObject(
      failure('asks for something other than an answer of a person in the middle of the call, which is not supported.'),
    )
  })

  test('of the protocol of 2026 that asks ends the call with its questions, and gets the answers with the next one', async () => {
    await using open = openServer(fake('modern'))
    const answers: GivenAnswer[] = []
    const given = [
      { type: 'answered', value: { size: 'L' } },
      { type: 'rejected', reason: null },
    ] as const
    for (const answer of given) {
      const { question } = await open.call('form', {}, { answers })
      if (question === undefined) throw new Error('it asked nothing')
      answers.push({ ...question, answer })
    }

    expect(answers.map(({ message }) => message)).toEqual([
      'The MCP server "sample" asks: Which size?',
      'The MCP server "sample" asks: A note?',
    ])
    const { content } = await open.call('form', {}, { answers })
    expect(JSON.parse(content)).toEqual({
      inputResponses: { size: { action: 'accept', content: { size: 'L' } }, note: { action: 'decline' } },
      requestState: 'kept',
    })
  })
})

describe('a server over HTTP', () => {
  test('that requires authorization gives an error that says what to do', async () => {
    await using http = await listen((_request, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://x/.well-known"' }).end('no')
    })
    await using open = openServer(http.settings)

    await expect(open.tools()).rejects.toMatchObject(
      failure(
        `requires authorization. If people sign in to it (OAuth), write \`auth: {}\` for it. Otherwise put a token into its \`headers\`, for example \`Authorization: Bearer \${MY_TOKEN}\`.`,
      ),
    )
  })

  test.each([
    [404, 'answered with HTTP 404. Check that its `url` is the address of its MCP endpoint.'],
    [302, 'answered with HTTP 302. Check that its `url` is the address of its MCP endpoint.'],
  ])('that answers with %i gives a clear error, and nobody else gets our headers', async (status, text) => {
    const seen: (string | undefined)[] = []
    await using other = await listen((request, response) => {
      seen.push(request.headers.authorization)
      response.end()
    })
    await using http = await listen((_request, response) => {
      response.writeHead(status, { location: other.url }).end()
    })
    await using open = openServer(http.settings)

    await expect(open.tools()).rejects.toMatchObject(failure(text))
    expect(seen).toEqual([])
  })

  test('behind an invalid proxy gives a clear error', async () => {
    const proxyVariables = { HTTP_PROXY: 'socks5://me:secret@proxy.test' }
    const { fetch } = createConnections().pool({ proxyVariables })
    const connection = { kind: 'http', url: 'http://mcp.test/', headers: {} } as const
    await using open = openServer({ connection }, { fetch })

    await expect(open.tools()).rejects.toMatchObject(
      failure(
        'cannot be reached. HTTP_PROXY is not the http or https address of a proxy. Write e.g. http://proxy.example.com:3128',
      ),
    )
  })

  test('that is not running gives a clear error', async () => {
    const http = await listen(() => {})
    await http[Symbol.asyncDispose]()
    await using open = openServer(http.settings)

    await expect(open.tools()).rejects.toMatchObject(
      failure('cannot be reached (ECONNREFUSED). Check its `url` and that it is running.'),
    )
  })

  test('that breaks off its stream fails the call at once', async () => {
    await using http = await listen(speakMcp((response) => response.end(': nothing more\n\n')))
    await using open = openServer(http.settings)

    await expect(open.call('slow')).rejects.toMatchObject(
      failure('went away during the call. Whether it took effect is unknown.'),
    )
  })

  test('that answers without end is cut off', async () => {
    await using http = await listen(
      speakMcp((response) => {
        const more = (): void => {
          while (response.write('x'.repeat(100_000)));
          response.once('drain', more)
        }
        more()
      }),
    )
    await using open = openServer(http.settings)

    await expect(open.call('slow')).rejects.toMatchObject(
      failure('went away during the call. Whether it took effect is unknown.'),
    )
  })

  test('is asked for its list again after five minutes, because a change notice may get lost', async () => {
    let later = 0
    const system = createSystemClock()
    let posts = 0
    const speak = speakMcp(() => {})
    await using http = await listen((request, response) => {
      if (request.method === 'POST') posts += 1
      speak(request, response)
    })
    await using open = openServer(http.settings, { clock: { ...system, mono: () => system.mono() + later } })
    const first = await open.tools()
    const requests = posts
    expect(await open.tools()).toBe(first)
    expect(posts).toBe(requests)
    later = 5 * 60_000

    expect(await open.tools()).not.toBe(first)
    expect(posts).toBe(requests + 1)
  })

  test('that lost our session gets the call, which it had not taken, in a new session', async () => {
    let sessions = 0
    let calls = 0
    const speak = speakMcp((response, id) => {
      calls += 1
      const result = { content: [{ type: 'text', text: `call ${calls} in session ${sessions}` }] }
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
    })
    let forgetful = false
    await using http = await listen((request, response) => {
      const session = request.headers['mcp-session-id']
      if (session !== undefined && (session !== String(sessions) || forgetful)) {
        forgetful = false
        response.writeHead(404).end()
        return
      }
      if (session === undefined) sessions += 1
      response.setHeader('mcp-session-id', String(sessions))
      speak(request, response)
    })
    await using open = openServer(http.settings)
    const slow = await open.tool('slow')
    expect(await slow.call(toolCall({}), never)).toMatchObject({ content: 'call 1 in session 1', isError: false })
    forgetful = true

    expect(await slow.call(toolCall({}), never)).toMatchObject({ content: 'call 2 in session 2', isError: false })
  })
})

/** Starts real processes and records their ids. */
function watched(pids: (number | undefined)[]): ProcessGroups {
  const groups = createProcessGroups({ clock: createSystemClock(), process })
  return {
    ...groups,
    start(command) {
      const group = groups.start(command)
      pids.push(group.pid)
      return group
    },
  }
}

/** A clock that shortens some waits while `isOn` says so. */
function hasty(waits: readonly number[], isOn: () => boolean = () => true): Clock {
  const system = createSystemClock()
  return { ...system, after: (ms, fire, hold) => system.after(isOn() && waits.includes(ms) ? 50 : ms, fire, hold) }
}

interface Listening extends AsyncDisposable {
  url: string
  settings: Pick<McpServerSettings, 'connection'>
}

async function listen(handle: RequestListener): Promise<Listening> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  return {
    url,
    settings: { connection: { kind: 'http', url, headers: { authorization: 'Bearer secret' } } },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Speaks enough MCP to offer one tool. `call` answers its calls on a stream of events. */
function speakMcp(call: (response: Parameters<RequestListener>[1], id: unknown) => void): RequestListener {
  return async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end()
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString())
    const answer = (result: object): void => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    if (method === 'initialize') {
      answer({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } })
    } else if (method === 'tools/list') {
      answer({ tools: [{ name: 'slow', description: 'Takes its time.', inputSchema: { type: 'object' } }] })
    } else if (method === 'tools/call') {
      response.setHeader('content-type', 'text/event-stream')
      call(response, id)
    } else response.writeHead(202).end()
  }
}
