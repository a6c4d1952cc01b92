import { afterEach, describe, expect, test } from 'vitest'
import type { OpenApiToolSettings } from '../../../domain/agent/tool-settings.ts'
import type { LogLine } from '../../../domain/testing/recording-logger.ts'
import { never, toolCall } from '../../testing/tool-call.ts'
import type { ServerTool } from '../../tool.ts'
import { httpToolDeps } from '../testing/http-tool-deps.ts'
import { withOpenApiFile } from '../testing/open-api-file.ts'
import { answerJson, openService, type Service } from '../testing/open-service.ts'
import { loadOpenApiTools } from './load-open-api-tools.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

async function open(): Promise<Service> {
  const service = await openService((response) => answerJson(response, { ok: true }))
  cleanups.push(() => service.close())
  return service
}

const settings = (more: Partial<OpenApiToolSettings>): OpenApiToolSettings => ({
  type: 'openapi',
  written: [],
  name: 'shop',
  file: '',
  baseUrl: 'https://api.example',
  headers: {},
  allow: null,
  deny: [],
  allowPrivate: false,
  effect: 'once',
  risk: 'high',
  timeoutMs: 30_000,
  retries: 0,
  approval: null,
  predictState: [],
  ...more,
})

const load = (
  document: string | object,
  more: Partial<OpenApiToolSettings> = {},
  lines: LogLine[] = [],
): Promise<ServerTool[]> =>
  withOpenApiFile(document, (file) => loadOpenApiTools(settings({ ...more, file }), httpToolDeps(lines)))

const api = (paths: object, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  paths,
  ...more,
})

const SHOP = `
openapi: 3.0.3
info: { title: Shop, version: "1" }
servers:
  - url: https://{region}.shop.example/v1/
    variables: { region: { default: eu } }
paths:
  /orders/{order_id}:
    parameters:
      - { name: order_id, in: path, required: true, description: Number of the order., schema: { type: integer } }
      - { name: lang, in: query, schema: { type: string, default: en } }
    get:
      operationId: getOrder
      summary: Shows one order
      description: With all its lines.
      parameters:
        - { $ref: '#/components/parameters/Lang' }
        - { name: X-Trace, in: header, schema: { type: string } }
        - { name: Authorization, in: header, required: true, schema: { type: string } }
    put:
      operationId: orders/replace
      description: Replaces an order.
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/Order' }
    delete:
      summary: Delete
  /orders:
    post:
      operationId: orders/replace
      requestBody: { $ref: '#/components/requestBodies/NewOrder' }
components:
  parameters:
    Lang: { name: lang, in: query, schema: { type: string, enum: [en, de] } }
  requestBodies:
    NewOrder:
      content:
        application/json:
          schema:
            allOf:
              - { $ref: '#/components/schemas/Order' }
              - { type: object, properties: { note: { type: string, nullable: true } } }
  schemas:
    Order:
      type: object
      required: [id, total]
      properties:
        id: { type: integer, readOnly: true }
        total: { type: number }
        tags: { type: array, items: { type: string } }
`

describe('the operations of a document', () => {
  test('become tools with names, descriptions, parameters and rules', async () => {
    const tools = await load(SHOP, { baseUrl: null, retries: 0 })
    const binding = expect.any(String)
    const common = {
      location: 'server',
      returns: null,
      timeoutMs: 30_000,
      retries: 0,
      approval: null,
      predictState: [],
    }
    const rules = { ...common, binding }
    const order = { type: 'integer', description: 'Number of the order.' }
    const total = { total: { type: 'number' }, tags: { type: 'array', items: { type: 'string' } } }
    expect(tools[0]?.action?.({ order_id: 7, lang: 'en' })).toMatch(/^GET https?:\/\/\S+7\?lang=en$/)
    expect(tools.map(({ call, action, ...description }) => description)).toEqual([
      {
        ...rules,
        name: 'getOrder',
        description: 'Shows one order\nWith all its lines.',
        effect: 'read',
        risk: 'low',
        parameters: {
          type: 'object',
          properties: { order_id: order, lang: { type: 'string', enum: ['en', 'de'] }, 'X-Trace': { type: 'string' } },
          required: ['order_id'],
          additionalProperties: false,
        },
      },
      {
        ...rules,
        name: 'orders_replace',
        description: 'Replaces an order.',
        effect: 'idempotent',
        risk: 'high',
        parameters: {
          type: 'object',
          properties: { order_id: order, lang: { type: 'string', default: 'en' }, ...total },
          required: ['order_id', 'total'],
          additionalProperties: false,
        },
      },
      {
        ...rules,
        name: 'delete_orders_order_id',
        description: 'DELETE /orders/{order_id}: Delete',
        effect: 'idempotent',
        risk: 'high',
        parameters: {
          type: 'object',
          properties: { order_id: order, lang: { type: 'string', default: 'en' } },
          required: ['order_id'],
          additionalProperties: false,
        },
      },
      {
        ...rules,
        name: 'orders_replace_2',
        description: 'POST /orders',
        effect: 'once',
        risk: 'high',
        parameters: {
          type: 'object',
          properties: { ...total, note: { type: ['string', 'null'] } },
          required: [],
          additionalProperties: false,
        },
      },
    ])
  })

  test('follow the settings if these say what a call does', async () => {
    const rulesOf = async (more: Partial<OpenApiToolSettings>) =>
      (await load(api({ '/a': { get: {}, post: {} } }), more)).map(({ effect, risk }) => `${effect} ${risk}`)
    expect(await rulesOf({ effect: 'read', risk: 'low', written: ['effect'] })).toEqual(['read low', 'read low'])
    expect(await rulesOf({ effect: 'idempotent', risk: 'high', written: ['effect', 'risk'] })).toEqual([
      'idempotent high',
      'idempotent high',
    ])
    expect(await rulesOf({ effect: 'once', risk: 'critical', written: ['risk'] })).toEqual([
      'read critical',
      'once critical',
    ])
  })

  test('have valid and unique names', async () => {
    const ids = ['a.b-c', 'a_b_c', '3d', 'ünï', 'x'.repeat(80), `${'x'.repeat(70)}y`, '__proto__']
    const paths = Object.fromEntries(ids.map((operationId, i) => [`/${i}`, { get: { operationId } }]))
    const names = (await load(api(paths))).map(({ name }) => name)
    expect(names).toEqual(['a_b_c', 'a_b_c_2', '_3d', 'n', 'x'.repeat(64), `${'x'.repeat(62)}_2`, 'proto'])
  })

  test('have descriptions that are neither too short nor too long', async () => {
    const tools = await load(
      api({ '/': { get: { summary: 'x' }, post: {}, put: { description: 'y'.repeat(5_000), deprecated: true } } }),
    )
    expect(tools.map(({ description }) => description)).toEqual([
      'Calls GET /: x.',
      'Calls POST /.',
      `Deprecated.\n${'y'.repeat(1_011)}…`,
    ])
  })

  test('are chosen with allow and deny, by id or else by name', async () => {
    const paths = {
      '/a': { get: { operationId: 'users/list' }, post: { operationId: 'users/add' } },
      '/b': { get: {} },
    }
    const lines: LogLine[] = []
    const names = async (more: Partial<OpenApiToolSettings>) =>
      (await load(api(paths), more, lines)).map(({ name }) => name)
    expect(await names({ allow: ['users/*'] })).toEqual(['users_list', 'users_add'])
    expect(await names({ allow: ['**'], deny: ['users/add'] })).toEqual(['users_list', 'get_b'])
    expect(await names({ deny: ['users/**'] })).toEqual(['get_b'])
    expect(lines).toEqual([])
    expect(await names({ allow: ['get_b', 'nothing'] })).toEqual(['get_b'])
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'allow or deny names operations that do not exist',
        fields: { tool: 'shop', patterns: ['nothing'] },
      },
    ])
  })

  test('that cannot be called are left out, with the reason in the log', async () => {
    const file = { 'multipart/form-data': { schema: { type: 'object' } } }
    const cookie = { name: 'sid', in: 'cookie', required: true, schema: { type: 'string' } }
    const matrix = { name: 'id', in: 'path', required: true, style: 'matrix', schema: { type: 'string' } }
    const lines: LogLine[] = []
    const tools = await load(
      api({
        '/a': { post: { operationId: 'upload', requestBody: { required: true, content: file } } },
        '/b': { post: { operationId: 'maybe', requestBody: { content: file } } },
        '/c': { get: { operationId: 'inside', parameters: [cookie] } },
        '/d/{id}': { get: { operationId: 'odd', parameters: [matrix] } },
        '/e': { trace: { operationId: 'echo' } },
        'x-note': { get: { operationId: 'no path' } },
      }),
      {},
      lines,
    )
    expect(tools.map(({ name }) => name)).toEqual(['maybe'])
    expect(lines.map(({ level, message, fields }) => [level, message, fields])).toEqual([
      [
        'warn',
        'an operation is left out',
        {
          tool: 'shop',
          operation: 'upload',
          reason: 'its body (multipart/form-data) is neither JSON, a form nor text',
        },
      ],
      [
        'warn',
        'an operation is left out',
        { tool: 'shop', operation: 'inside', reason: 'the parameter sid (cookie, style simple) cannot be sent' },
      ],
      [
        'warn',
        'an operation is left out',
        { tool: 'shop', operation: 'odd', reason: 'the parameter id (path, style matrix) cannot be sent' },
      ],
    ])
  })

  test('cause a warning when they are more than most models accept', async () => {
    const paths = Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`/${i}`, { get: {} }]))
    const lines: LogLine[] = []
    expect(await load(api(paths), {}, lines)).toHaveLength(129)
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'there are more tools than most models accept; choose some with allow',
        fields: { tool: 'shop', tools: 129, usual_limit: 128 },
      },
    ])
  })
})

describe('a call', () => {
  /** The request that the service received. */
  async function sent(path: string, method: string, operation: object, args: Record<string, unknown>, headers = {}) {
    const service = await open()
    const document = api({ [path]: { [method]: operation } }, { servers: [{ url: `${service.url}/v1/` }] })
    const [tool] = await load(document, { baseUrl: null, allowPrivate: true, headers })
    const outcome = await tool?.call(toolCall(args), never)
    expect(outcome).toEqual({ content: '{"ok":true}', isError: false })
    const [request] = service.requests
    const { 'content-type': type, ...rest } = request?.headers ?? {}
    return { line: `${request?.method} ${request?.url}`, type, body: request?.body, headers: rest }
  }
  const line = async (...given: Parameters<typeof sent>) => (await sent(...given)).line
  const parameter = (name: string, where: string, more: object = {}) => ({ name, in: where, schema: {}, ...more })

  test('puts every argument in its place', async () => {
    const operation = {
      parameters: [
        parameter('id', 'path'),
        parameter('id', 'query'),
        parameter('filter[name]', 'query'),
        parameter('X-Trace', 'header'),
        parameter('list', 'header'),
        parameter('where', 'query', {
          schema: undefined,
          content: { 'application/json': { schema: { type: 'object' } } },
        }),
      ],
      requestBody: {
        content: {
          'application/json': { schema: { type: 'object', properties: { total: {}, note: {}, unused: {} } } },
        },
      },
    }
    const args = {
      id: 'a/b',
      id_2: 7,
      filter_name: 'x',
      'X-Trace': 't',
      list: [1, 2],
      where: { a: [1] },
      total: 3,
      note: null,
    }
    const result = await sent('/orders/{id}/lines', 'post', operation, args)
    expect(result.line).toBe('POST /v1/orders/a%2Fb/lines?id=7&filter%5Bname%5D=x&where=%7B%22a%22%3A%5B1%5D%7D')
    expect([result.type, result.body]).toEqual(['application/json', '{"total":3,"note":null}'])
    expect([result.headers['x-trace'], result.headers.list]).toEqual(['t', '1,2'])
  })

  test('writes lists and objects in the style of the parameter', async () => {
    const styles = [
      parameter('a', 'query'),
      parameter('b', 'query', { explode: false }),
      parameter('c', 'query', { style: 'deepObject' }),
      parameter('d', 'query', { style: 'pipeDelimited' }),
      parameter('e', 'query'),
    ]
    const args = { a: [1, 2], b: [1, 2], c: { x: 1 }, d: [1, 2], e: { y: 1 } }
    expect(await line('/s', 'get', { parameters: styles }, args)).toBe('GET /v1/s?a=1&a=2&b=1,2&c%5Bx%5D=1&d=1%7C2&y=1')
    expect(await line('/s/{a}', 'get', { parameters: [parameter('a', 'path')] }, { a: ['x', 'y/z'] })).toBe(
      'GET /v1/s/x,y%2Fz',
    )
    expect(await line('/s/{a}:run', 'post', {}, { a: 'x' })).toBe('POST /v1/s/x:run')
  })

  test('stays below its path, whatever the arguments are', async () => {
    const service = await open()
    const document = api({
      '/orders/{id}/{list}': { get: { parameters: [parameter('id', 'path'), parameter('list', 'path')] } },
    })
    const [tool] = await load(document, { baseUrl: service.url, allowPrivate: true })
    for (const args of [
      { id: '..', list: 'x' },
      { id: '../../admin', list: 'x' },
      { id: 'x', list: ['..'] },
      { id: '', list: 'x' },
    ])
      await expect(tool?.call(toolCall(args), never)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(service.connections).toBe(0)
  })

  const body = (schema: unknown, more: object = {}) => ({
    requestBody: { content: { 'application/json': { schema } }, ...more },
  })
  test.each([
    ['a list', body({ type: 'array', items: {} }), { body: [1] }, '[1]'],
    ['an object of which nothing is said', body({ type: 'object' }), { body: { a: 1 } }, '{"a":1}'],
    ['one of several', body({ oneOf: [{ type: 'object' }, { type: 'string' }] }), { body: 'x' }, '"x"'],
    [
      'an object with other names too',
      body({ properties: { a: {} }, additionalProperties: true }),
      { body: { b: 1 } },
      '{"b":1}',
    ],
    ['an object with odd names', body({ properties: { 'a b': {} } }), { body: { 'a b': 1 } }, '{"a b":1}'],
    [
      'an object whose names clash',
      { ...body({ properties: { id: {} } }), parameters: [parameter('id', 'query')] },
      { id: 1, body: { id: 2 } },
      '{"id":2}',
    ],
    [
      'a list beside a parameter called body',
      { ...body({ type: 'array' }), parameters: [parameter('body', 'query')] },
      { body: 1, body_2: [2] },
      '[2]',
    ],
    ['a plain object', body({ properties: { a: {}, b: {} } }), { b: 1 }, '{"b":1}'],
    ['a plain object that must be there', body({ properties: { a: {} } }, { required: true }), {}, '{}'],
    ['a plain object that may be left out', body({ properties: { a: {} } }), {}, ''],
    ['a list that may be left out', body({ type: 'array' }), {}, ''],
  ])('sends %s as the body', async (_, operation, args, text) => {
    const result = await sent('/x', 'post', operation, args)
    expect({ body: result.body, type: result.type }).toEqual({
      body: text,
      type: text === '' ? undefined : 'application/json',
    })
  })

  test('sends a form if the service wants one', async () => {
    const schema = { type: 'object', properties: { a: {}, b: {}, c: {}, d: {} } }
    const encoding = { c: { style: 'deepObject' } }
    const content = { 'application/x-www-form-urlencoded': { schema, encoding }, 'text/plain': {} }
    const args = { a: 'x&y', b: [1, 2], c: { k: 'v' }, d: { k: 'v' } }
    const result = await sent('/x', 'post', { requestBody: { content } }, args)
    expect({ body: result.body, type: result.type }).toEqual({
      body: 'a=x%26y&b=1&b=2&c%5Bk%5D=v&d=%7B%22k%22%3A%22v%22%7D',
      type: 'application/x-www-form-urlencoded',
    })
  })

  test('sends text if the service wants that', async () => {
    const result = await sent('/x', 'put', { requestBody: { content: { 'text/markdown': {} } } }, { body: '# Hi' })
    expect({ body: result.body, type: result.type }).toEqual({ body: '# Hi', type: 'text/markdown' })
  })

  test('has the headers of the settings, and the model is not asked for them', async () => {
    const operation = {
      parameters: [
        parameter('X-Api-Key', 'header', { required: true }),
        parameter('sid', 'cookie', { required: true }),
      ],
    }
    const headers = { 'x-api-key': 'k', Cookie: 'sid=1', Authorization: 'Bearer {{t}}' }
    const result = await sent('/x', 'get', operation, {}, headers)
    expect([result.headers['x-api-key'], result.headers.cookie, result.headers.authorization]).toEqual([
      'k',
      'sid=1',
      'Bearer {t}',
    ])
    const [tool] = await load(api({ '/x': { get: operation } }), { headers })
    expect(tool?.parameters.properties).toEqual({})
  })

  test('of an idempotent operation has a key', async () => {
    const keys = [await sent('/x', 'put', {}, {}), await sent('/x', 'get', {}, {}), await sent('/x', 'post', {}, {})]
    expect(keys.map(({ headers }) => headers['idempotency-key'])).toEqual(['call-1', undefined, undefined])
  })

  test('cannot break out of a header', async () => {
    const [tool] = await load(api({ '/x': { get: { parameters: [parameter('X-A', 'header')] } } }))
    await expect(tool?.call(toolCall({ 'X-A': 'a\r\nb: c' }), never)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('goes to the most specific server, unless the settings name one', async () => {
    const [path, operation, own] = [await open(), await open(), await open()]
    const document = api(
      { '/a': { servers: [{ url: path.url }], get: {}, post: { servers: [{ url: operation.url }] } } },
      { servers: [{ url: 'https://never.example' }] },
    )
    for (const tool of await load(document, { baseUrl: null, allowPrivate: true })) await tool.call(toolCall({}), never)
    for (const tool of await load(document, { baseUrl: `${own.url}/`, allowPrivate: true }))
      await tool.call(toolCall({}), never)
    expect([path, operation, own].map(({ requests }) => requests.map(({ method, url }) => `${method} ${url}`))).toEqual(
      [['GET /a'], ['POST /a'], ['GET /a', 'POST /a']],
    )
  })
})

describe('a document that cannot be used is refused, and the error says what to do', () => {
  const good = api({ '/a': { get: {} } })
  const withRef = ($ref: string) => api({ '/a': { get: { parameters: [{ $ref }] } } })
  const circle = {
    components: { parameters: { A: { $ref: '#/components/parameters/B' }, B: { $ref: '#/components/parameters/A' } } },
  }
  test.each<[string | object, Partial<OpenApiToolSettings>, string]>([
    [
      'swagger: "2.0"\npaths: {}',
      {},
      '<file>: this is Swagger 2.0. Convert it to OpenAPI 3, e.g. with npx swagger2openapi.',
    ],
    ['hello', {}, '<file>: this is not an OpenAPI document. It needs openapi and paths at the top level.'],
    [
      'openapi: 4.0.0\npaths: {}',
      {},
      '<file>: this is not an OpenAPI 3 document: openapi must be a version like 3.1.0.',
    ],
    ['openapi: 3.1', {}, '<file>: the document has no paths, so there is nothing to call.'],
    ['a: [', {}, '<file>: this is neither YAML nor JSON: '],
    [
      withRef('other.yaml#/X'),
      {},
      '<file>: $ref other.yaml#/X leads out of the file. Bundle the document first, e.g. with npx @redocly/cli bundle.',
    ],
    [
      withRef('https://a.example/x.json'),
      {},
      '<file>: $ref https://a.example/x.json leads out of the file. Bundle the document first, e.g. with npx @redocly/cli bundle.',
    ],
    [
      withRef('#/components/parameters/X'),
      {},
      '<file>: $ref #/components/parameters/X leads nowhere. Check the spelling.',
    ],
    [withRef('#/constructor'), {}, '<file>: $ref #/constructor leads nowhere. Check the spelling.'],
    [withRef('#anchor'), {}, '<file>: $ref #anchor is not a path inside the document (#/…). Write it as one.'],
    [
      { ...withRef('#/components/parameters/A'), ...circle },
      {},
      '<file>: $ref #/components/parameters/A refers to itself in a circle.',
    ],
    [
      good,
      { baseUrl: null },
      'Tool shop: <file> names no server. Write base_url, e.g. base_url: https://api.example.com/v1',
    ],
    [
      { ...good, servers: [{ url: '/v1' }] },
      { baseUrl: null },
      'Tool shop: the server "/v1" is not a full URL. Write base_url, e.g. base_url: https://api.example.com/v1',
    ],
    [
      { ...good, servers: [{ url: 'https://{tenant}.a.example' }] },
      { baseUrl: null },
      'Tool shop: the server "https://{tenant}.a.example" contains one of { } ? #. Write base_url, e.g. base_url: https://api.example.com/v1',
    ],
    [
      good,
      { baseUrl: 'http://10.0.0.1:80' },
      'Tool shop: 10.0.0.1 is on this machine or in a private network. Write allow_private: true if the tool may call it.',
    ],
    [good, { allow: ['none'] }, 'Tool shop: <file> has no operation that can be offered. Check allow and deny.'],
    [
      good,
      { headers: { a: '{x}' } },
      'Tool shop: headers uses {x}, but headers of an OpenAPI tool cannot hold arguments. Write {{x}} if the braces are meant as text.',
    ],
  ])('%j %j', async (document, more, message) => {
    await withOpenApiFile(document, async (file) => {
      const failure = await loadOpenApiTools(settings({ ...more, file }), httpToolDeps()).catch(
        (error: unknown) => error,
      )
      expect(failure).toMatchObject({ code: 'config_invalid' })
      const text = failure instanceof Error ? failure.message.replace(file, '<file>') : ''
      expect(message.endsWith(': ') ? text.slice(0, message.length) : text).toBe(message)
    })
  })

  test('also when it does not exist or is not a file', async () => {
    const load = (file: string) => loadOpenApiTools(settings({ file }), httpToolDeps())
    await expect(load('/nowhere/api.yaml')).rejects.toThrow('/nowhere/api.yaml: there is no such file.')
    await expect(load('/')).rejects.toThrow('/: this is not a file.')
  })

  test('but not when only operations that are not offered are wrong', async () => {
    const document = api({
      '/a': { get: { operationId: 'good' } },
      '/b': { get: { operationId: 'bad', parameters: [{ $ref: '#/x' }] } },
    })
    expect((await load(document, { deny: ['bad'] })).map(({ name }) => name)).toEqual(['good'])
  })
})
