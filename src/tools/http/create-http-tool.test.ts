import { afterEach, describe, expect, test } from 'vitest'
import type { HttpToolSettings } from '../../domain/agent/tool-settings.ts'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import { never, toolCall } from '../testing/tool-call.ts'
import { createHttpTool } from './create-http-tool.ts'
import { httpToolDeps } from './testing/http-tool-deps.ts'
import { type Answer, answerJson, openService, type Service } from './testing/open-service.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function open(answer: Answer = (response) => answerJson(response, { ok: true })): Promise<Service> {
  const service = await openService(answer)
  cleanups.push(() => service.close())
  return service
}

const settings = (more: Partial<HttpToolSettings> & { url: string }, names = 'id q tags note'): HttpToolSettings => ({
  type: 'http',
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: Object.fromEntries(names.split(' ').map((name) => [name, {}])) },
  returns: null,
  effect: 'once',
  risk: 'high',
  timeoutMs: 30_000,
  retries: 0,
  approval: null,
  predictState: [],
  method: 'GET',
  headers: {},
  body: null,
  allowPrivate: true,
  ...more,
})

/** The request that the service received. */
async function sent(more: Partial<HttpToolSettings>, path: string, args: Record<string, unknown>, names?: string) {
  const service = await open()
  const tool = createHttpTool(settings({ ...more, url: service.url + path }, names), httpToolDeps())
  await tool.call(toolCall(args), never)
  const [request] = service.requests
  return {
    line: `${request?.method} ${request?.url}`,
    type: request?.headers['content-type'],
    body: request?.body,
    headers: request?.headers ?? {},
  }
}

const parts = ({ line, type, body }: Awaited<ReturnType<typeof sent>>) => ({ line, type, body })

describe('an http tool', () => {
  test('is what its settings say', () => {
    const given = settings({ url: 'http://127.0.0.1/', returns: { type: 'object' }, effect: 'read', risk: 'low' })
    const { call, action: _shown, ...description } = createHttpTool(given, httpToolDeps())
    expect(call).toBeTypeOf('function')
    const { type, method, url, headers, body, allowPrivate, ...rules } = given
    expect(description).toEqual({ location: 'server', binding: expect.any(String), ...rules })
  })

  test.each([
    ['GET', 'http://127.0.0.1/u/{id}?api_key=abc', undefined, 'GET http://127.0.0.1/u/a%20b?api_key=[masked]&q=1'],
    ['post', 'http://127.0.0.1/u/{id}', undefined, 'POST http://127.0.0.1/u/a%20b'],
    [
      'POST',
      'http://127.0.0.1/abc/{id}',
      { url: { text: ['http://127.0.0.1/', { variable: 'API_KEY' }, '/{id}'] } },
      'POST http://127.0.0.1/[masked]/a%20b',
    ],
    [
      'POST',
      'http://abc.localhost/{id}',
      { url: { text: ['http://', { variable: 'API_KEY' }, '.localhost/{id}'] } },
      undefined,
    ],
  ])('shows %s %s with its secrets masked', (method, url, bound, shown) => {
    const parameters = { type: 'object', properties: { id: { type: 'string' }, q: { type: 'integer' } } }
    const given = settings({ method, url, parameters, allowPrivate: true, ...(bound === undefined ? {} : { bound }) })
    expect(createHttpTool(given, httpToolDeps()).action?.({ id: 'a b', q: 1 })).toBe(shown)
  })

  test('returns the answer of the service', async () => {
    const service = await open()
    const tool = createHttpTool(settings({ url: `${service.url}/users/{id}` }), httpToolDeps())
    expect(await tool.call(toolCall({ id: 7 }), never)).toEqual({ content: '{"ok":true}', isError: false })
  })

  test('returns a status of 400 or more as an error, with the text of the service', async () => {
    const service = await open((response) => answerJson(response, { error: 'gone' }, 410))
    const tool = createHttpTool(settings({ url: service.url }), httpToolDeps())
    expect(await tool.call(toolCall({}), never)).toEqual({
      content: 'The service answered 410 Gone: {"error":"gone"}',
      isError: true,
    })
  })

  test.each(['GET', 'DELETE', 'HEAD'])('%s: arguments that no template uses go into the query', async (method) => {
    const args = { id: 'a/b', q: 'x&y', tags: ['p', 'q'], note: { deep: 1 } }
    expect(parts(await sent({ method }, '/u/{id}?fixed=1', args))).toEqual({
      line: `${method} /u/a%2Fb?fixed=1&q=x%26y&tags=p&tags=q&note=%7B%22deep%22%3A1%7D`,
      type: undefined,
      body: '',
    })
  })

  test.each(['POST', 'PUT', 'PATCH'])('%s: arguments that no template uses become the JSON body', async (method) => {
    const args = { id: 'x', q: 'text', tags: [1, null], note: null }
    expect(parts(await sent({ method }, '/u/{id}', args))).toEqual({
      line: `${method} /u/x`,
      type: 'application/json',
      body: '{"q":"text","tags":[1,null],"note":null}',
    })
  })

  test('sends an empty object if all arguments of the body are left out, and no body if it has none', async () => {
    expect(parts(await sent({ method: 'POST' }, '/u/{id}', { id: 1 }))).toEqual({
      line: 'POST /u/1',
      type: 'application/json',
      body: '{}',
    })
    expect(parts(await sent({ method: 'POST' }, '/u/{id}', { id: 1 }, 'id'))).toEqual({
      line: 'POST /u/1',
      type: undefined,
      body: '',
    })
  })

  test('a body template takes arguments as values or inside strings, and skips missing ones', async () => {
    const body = {
      exact: '{tags}',
      nothing: '{note}',
      text: 'For {q}: {{q}}',
      half: '{q} and {id}',
      list: ['{q}', '{id}', 1],
      nested: { deep: '{id}', kept: true },
      none: null,
    }
    const { body: text } = await sent({ method: 'POST', body }, '/', { tags: [1, 'a'], note: null, q: '"}' })
    expect(JSON.parse(text ?? '')).toEqual({
      exact: [1, 'a'],
      nothing: null,
      text: 'For "}: {q}',
      list: ['"}', 1],
      nested: { kept: true },
      none: null,
    })
  })

  test('a body template of one argument is that argument', async () => {
    expect((await sent({ method: 'POST', body: '{tags}' }, '/', { tags: [1] })).body).toBe('[1]')
    expect((await sent({ method: 'POST', body: '{tags}' }, '/', {})).body).toBe('')
  })

  test('with a body template no other arguments are sent', async () => {
    expect(parts(await sent({ method: 'POST', body: { a: '{q}' } }, '/', { q: 1, note: 'for the operator' }))).toEqual({
      line: 'POST /',
      type: 'application/json',
      body: '{"a":1}',
    })
  })

  test.each([
    ['application/x-www-form-urlencoded', { a: '{q}', t: '{tags}' }, 'a=x%26y%3D%3Cz%3E&t=1&t=2'],
    ['application/x-www-form-urlencoded', 'a={q}&b=1', 'a=x%26y%3D%3Cz%3E&b=1'],
    ['application/x-www-form-urlencoded', null, 'q=x%26y%3D%3Cz%3E&tags=1&tags=2'],
    ['application/soap+xml', '<a b="{q}"/>', '<a b="x&#38;y=&#60;z&#62;"/>'],
    ['text/plain', 'Say {q}', 'Say x&y=<z>'],
    ['application/vnd.api+json', { a: '{q}' }, '{"a":"x&y=<z>"}'],
  ])('a body of type %s is encoded for that type: %j', async (type, body, text) => {
    const headers = { 'Content-Type': type }
    const result = await sent({ method: 'POST', headers, body }, '/', { q: 'x&y=<z>', tags: [1, 2] })
    expect(parts(result)).toEqual({ line: 'POST /', type, body: text })
  })

  test('headers take arguments, and a header whose argument is missing is not sent', async () => {
    const headers = { Authorization: 'Bearer k', 'X-Id': 'id-{id}', 'X-Note': '{note}', Accept: 'text/csv' }
    const result = await sent({ headers }, '/', { id: 7, q: 'x' })
    expect(result.line).toBe('GET /?q=x')
    const { host, ...rest } = result.headers
    expect(rest).toEqual({
      accept: 'text/csv',
      'accept-encoding': 'gzip, br',
      authorization: 'Bearer k',
      connection: 'close',
      'user-agent': 'quarterdeck',
      'x-id': 'id-7',
    })
  })

  test.each(['a\r\nX-Evil: 1', 'a\nb', 'a\0b', '日本'])('%j cannot be put into a header', async (note) => {
    const service = await open()
    const tool = createHttpTool(settings({ url: service.url, headers: { 'X-Note': '{note}' } }), httpToolDeps())
    await expect(tool.call(toolCall({ note }), never)).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'The argument for the header x-note has characters that a header cannot carry, e.g. a line break.',
    })
    expect(service.connections).toBe(0)
  })

  test('an argument that would lead to another path is not sent', async () => {
    const service = await open()
    const tool = createHttpTool(settings({ url: `${service.url}/users/{id}/orders` }), httpToolDeps())
    for (const id of ['../../admin', '..', '%2e%2e/x', '', '/etc/../x'])
      await expect(tool.call(toolCall({ id }), never)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(service.connections).toBe(0)
  })

  test('an idempotent call has a key, which stays the same when the call is repeated', async () => {
    const service = await open()
    for (const effect of ['read', 'idempotent', 'once'] as const) {
      const tool = createHttpTool(settings({ url: service.url, method: 'PUT', effect }), httpToolDeps())
      await tool.call(toolCall({}, { callId: 'call ü' }), never)
    }
    const own = { 'Idempotency-Key': '{id}' }
    const tool = createHttpTool(settings({ url: service.url, effect: 'idempotent', headers: own }), httpToolDeps())
    await tool.call(toolCall({ id: 'mine' }), never)
    const keys = service.requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual([undefined, 'call%20%C3%BC', undefined, 'mine'])
  })

  test('the service is told of the trace, unless the file sets its own', async () => {
    const service = await open()
    const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=1' }
    for (const headers of [{}, { traceparent: 'mine' }]) {
      const tool = createHttpTool(settings({ url: service.url, headers }), httpToolDeps())
      await tool.call({ ...toolCall({}), trace }, never)
    }
    expect(service.requests.map(({ headers }) => [headers.traceparent, headers.tracestate])).toEqual([
      [trace.traceparent, 'a=1'],
      ['mine', 'a=1'],
    ])
  })

  test('the log has the host and the status, but no content', async () => {
    const service = await open((response) => answerJson(response, { secret: 'answer' }, 403))
    const lines: LogLine[] = []
    const headers = { Authorization: 'Bearer secret' }
    const tool = createHttpTool(settings({ url: `${service.url}/secret/{id}`, headers }), httpToolDeps())
    await tool.call(toolCall({ id: 'secret', q: 'secret' }, { voice: { log: recordingLogger(lines) } }), never)
    const fields = { host: `127.0.0.1:${service.port}`, duration_ms: 0 }
    expect(lines).toEqual([
      { level: 'debug', message: 'a service answered a tool', fields: { ...fields, status: 403 } },
    ])
  })

  test('the model learns no internals when a service cannot be reached, and the log has the reason', async () => {
    const service = await openService(() => {})
    await service.close()
    const lines: LogLine[] = []
    const tool = createHttpTool(settings({ url: service.url }), httpToolDeps())
    await expect(tool.call(toolCall({}, { voice: { log: recordingLogger(lines) } }), never)).rejects.toMatchObject({
      code: 'tool_failed',
      message: 'The service could not be reached.',
    })
    const fields = { host: `127.0.0.1:${service.port}`, duration_ms: 0 }
    const message = 'a service did not answer a tool'
    expect(lines).toEqual([
      { level: 'warn', message, fields: { ...fields, reason: 'unreachable', code: 'ECONNREFUSED' } },
    ])
  })

  test('a call to a slow service ends when the signal aborts', async () => {
    const service = await open(() => controller.abort())
    const controller = new AbortController()
    const tool = createHttpTool(settings({ url: service.url }), httpToolDeps())
    await expect(tool.call(toolCall({}), controller.signal)).rejects.toMatchObject({
      code: 'tool_failed',
      message: 'The service took too long to answer.',
    })
  })

  test('a name that resolves to a private address is not called', async () => {
    const canary = await open()
    const url = `http://intranet.example:${canary.port}/`
    const deps = httpToolDeps([], async () => ['127.0.0.1'])
    await expect(
      createHttpTool(settings({ url, allowPrivate: false }), deps).call(toolCall({}), never),
    ).rejects.toMatchObject({
      code: 'tool_failed',
      message: 'The service has a private address, and this tool may not call private addresses.',
    })
    expect(canary.connections).toBe(0)
    await createHttpTool(settings({ url, allowPrivate: true }), deps).call(toolCall({}), never)
    expect(canary.requests).toHaveLength(1)
  })

  const url = 'https://a.example/'
  const braces = 'Add it there, or write {{x}} if the braces are meant as text.'
  test.each([
    [{ method: 'CONNECT', url }, 'method must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS.'],
    [{ url: 'https://a.example/{x}' }, 'url uses {x}, but parameters has no x. Add it there.'],
    [{ url, headers: { a: '{x}' } }, `headers uses {x}, but parameters has no x. ${braces}`],
    [{ url, method: 'POST', body: { a: ['{x}'] } }, `body uses {x}, but parameters has no x. ${braces}`],
    [{ url, headers: { Host: 'b' } }, 'headers: Host is set by the server itself. Remove it.'],
    [{ url, headers: { 'a b': 'c' } }, 'headers: "a b" is not a valid header name.'],
    [{ url, headers: { a: 'b\nc' } }, 'headers: the value of a has characters that a header cannot carry.'],
    [
      { url, method: 'POST', body: '{"q": "{q}"}' },
      'body is a string. Write keys and values instead, or add a Content-Type header for a body that is not JSON.',
    ],
    [
      { url, method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: { a: 1 } },
      'body must be a string, because the Content-Type is text/plain. Or leave out the Content-Type and send JSON.',
    ],
    [
      { url, method: 'POST', headers: { 'Content-Type': 'text/plain' } },
      'the Content-Type text/plain needs a body. Write a body, or send JSON.',
    ],
    [
      { url: 'http://localhost:3000/x', allowPrivate: false },
      'localhost:3000 is on this machine or in a private network. Write allow_private: true if the tool may call it.',
    ],
    [
      { url: 'http://2130706433/', allowPrivate: false },
      '127.0.0.1 is on this machine or in a private network. Write allow_private: true if the tool may call it.',
    ],
    [
      { url: 'http://[::ffff:10.0.0.1]/', allowPrivate: false },
      '[::ffff:a00:1] is on this machine or in a private network. Write allow_private: true if the tool may call it.',
    ],
  ])('%j is refused at the start', (more, problem) => {
    expect(() => createHttpTool(settings(more), httpToolDeps())).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: `Tool lookup: ${problem}` }),
    )
  })
})
