import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type http from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import type { ModelSettings } from '../domain/agent/agent.ts'
import { type Clock, createSystemClock } from '../domain/clock.ts'
import { createIds } from '../domain/ids.ts'
import { silentLogger } from '../domain/logger.ts'
import { turns, until } from '../outgoing/testing/ask.ts'
import { openServer } from '../outgoing/testing/raw-server.ts'
import { createModel, type ModelDeps, withSupportedAttachments } from './create-model.ts'
import type { Model, ModelMessage, ModelPart, ModelRequest } from './model.ts'
import { collect, emptyRequest, failureFrom, payloadsOf } from './testing/fixtures.ts'
import { type Loopback, listen, sendStream, sse } from './testing/loopback.ts'
import { createManualClock } from './testing/manual-clock.ts'
import { openModelHttp } from './testing/open-model-http.ts'
import { scriptedModel } from './testing/scripted-model.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

const clock = createSystemClock()
const never = new AbortController().signal

function deps(directory = '/', poolClock: Clock = clock): ModelDeps {
  const pool = openModelHttp(poolClock)
  cleanups.push(pool.close)
  return { http: pool, clock, ids: createIds(() => 0), random: () => 0, log: silentLogger, directory }
}

async function serve(
  answer: (response: http.ServerResponse, request: http.IncomingMessage, count: number) => void,
): Promise<Loopback> {
  const server = await listen(answer)
  cleanups.push(server.close)
  return server
}

const settings = (more: Partial<ModelSettings>): ModelSettings => ({
  provider: 'openai',
  name: 'fake',
  contextWindow: 128_000,
  retries: 0,
  firstTokenTimeoutMs: 10_000,
  tokenTimeoutMs: 10_000,
  ...more,
})

const fixture = (path: string) => payloadsOf(new URL(path, import.meta.url))
const textOf = (parts: readonly ModelPart[]) =>
  parts.flatMap((part) => (part.type === 'text' ? [part.delta] : [])).join('')
const ask = (model: Model) => collect(model, emptyRequest, never)

describe('a proxy whose address is not valid', () => {
  const proxyVariables = { HTTPS_PROXY: 'socks5://me:secret@proxy.test' }
  const make = (more: Partial<ModelSettings>) => createModel(settings({ apiKey: 'k', proxyVariables, ...more }), deps())

  test.each(['openai', 'anthropic', 'google'])(
    'is reported before %s is asked, and the error does not repeat it',
    async (provider) => {
      await expect(make({ provider })).rejects.toThrow(/^HTTPS_PROXY is not the http or https address of a proxy\./)
      await expect(make({ provider })).rejects.not.toThrow(/secret/)
    },
  )

  test('does not matter to a model that does not use it', async () => {
    for (const baseUrl of ['http://model.test/v1', 'https://localhost/v1']) {
      expect((await make({ baseUrl })).name).toBe('fake')
    }
    expect((await make({ proxy: false })).name).toBe('fake')
  })
})

describe('a model behind TLS', () => {
  const pem = (part: 'cert' | 'key') => fileURLToPath(new URL(`../http/testing/localhost-${part}.pem`, import.meta.url))

  test('presents its certificate, and trusts the given authority', async () => {
    const [cert, key] = [readFileSync(pem('cert')), readFileSync(pem('key'))]
    const options = { cert, key, ca: cert, requestCert: true, rejectUnauthorized: true }
    const server = await openServer(
      https.createServer(options, (request, response) => {
        request.resume()
        sendStream(response, fixture('openai/fixtures/text.txt'))
      }),
    )
    cleanups.push(server.close)
    const baseUrl = `https://localhost:${server.port}/v1`
    const tls = { cert: pem('cert'), key: pem('key'), ca: pem('cert') }
    const model = await createModel(settings({ baseUrl, apiKey: 'none', tls }), deps())
    expect((await ask(model)).at(-1)).toEqual({ type: 'finish', reason: 'stop' })
    const stranger = await createModel(settings({ baseUrl, apiKey: 'none' }), deps())
    expect(await failureFrom(ask(stranger))).toMatchObject({
      code: 'model_unreachable',
      message: expect.stringContaining('its certificate is not trusted: DEPTH_ZERO_SELF_SIGNED_CERT'),
    })
  })

  test('is refused at the start when its files are missing or do not belong together', async () => {
    const make = (tls: NonNullable<ModelSettings['tls']>) =>
      failureFrom(createModel(settings({ baseUrl: 'https://model.test', apiKey: 'none', tls }), deps()))
    expect(await make({ ca: '/nowhere/ca.pem' })).toMatchObject({
      code: 'config_invalid',
      message: 'model.tls.ca: /nowhere/ca.pem cannot be read (ENOENT). Check the path.',
    })
    expect(await make({ cert: pem('key'), key: pem('cert') })).toMatchObject({
      code: 'config_invalid',
      message:
        'model.tls: the files do not hold a certificate and its key in PEM, without a password. Check cert, key and ca.',
    })
  })
})

describe('a model over the wire', () => {
  test('a compatible server without a key answers', async () => {
    const server = await serve((response) => sendStream(response, fixture('openai/fixtures/text.txt')))
    const model = await createModel(settings({ baseUrl: `${server.url}/v1`, apiKey: 'none' }), deps())
    expect([model.provider, model.name]).toEqual(['openai', 'fake'])
    expect(textOf(await ask(model))).toBe('Grüße aus 🚢')
    expect(server.requests).toMatchObject([{ method: 'POST', url: '/v1/chat/completions' }])
    expect(server.requests[0]?.headers.authorization).toBeUndefined()
    expect(server.bodies).toEqual([
      {
        model: 'fake',
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
        stream_options: { include_usage: true },
      },
    ])
  })

  test.each([
    ['azure', 'openai/fixtures/azure.txt', '/openai/v1/chat/completions', 'api-key', 'Paris'],
    ['ollama', 'openai/fixtures/text.txt', '/v1/chat/completions', 'authorization', 'Grüße aus 🚢'],
    ['anthropic', 'anthropic/fixtures/text.txt', '/v1/messages', 'x-api-key', 'Hello, 🚢!'],
    [
      'google',
      'google/fixtures/text.txt',
      '/v1beta/models/fake:streamGenerateContent?alt=sse',
      'x-goog-api-key',
      'There are **3**',
    ],
    [
      'gemini',
      'google/fixtures/text.txt',
      '/v1beta/models/fake:streamGenerateContent?alt=sse',
      'x-goog-api-key',
      'There are **3**',
    ],
  ])(
    '%s answers; the request has the right path and the key in the right header',
    async (provider, file, url, header, text) => {
      const server = await serve((response) => sendStream(response, fixture(file)))
      const model = await createModel(settings({ provider, baseUrl: server.url, apiKey: 'k-1' }), deps())
      const parts = await ask(model)
      expect(model.provider).toBe(provider === 'gemini' ? 'google' : provider)
      expect(textOf(parts)).toBe(text)
      expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'stop' })
      expect(server.requests[0]).toMatchObject({ url, headers: { [header]: expect.stringContaining('k-1') } })
    },
  )

  test('uses one connection for one answer after the other', async () => {
    let end = () => {}
    const server = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(fixture('openai/fixtures/text.txt')))
      end = () => response.end()
    })
    const poolClock = createManualClock()
    const model = await createModel(settings({ baseUrl: server.url, apiKey: 'none' }), deps('/', poolClock))
    for (let count = 0; count < 3; count += 1) {
      // [DONE] ends the answer. The pool has the connection back once the timer that would close it is cancelled.
      await ask(model)
      end()
      await until(() => poolClock.pending === 0)
      await turns(3)
    }
    expect(server.sockets).toHaveLength(1)
  })

  test('an abort closes the connection to the provider', async () => {
    const server = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(sse(fixture('openai/fixtures/text.txt').slice(0, 2)))
    })
    const model = await createModel(settings({ baseUrl: server.url, apiKey: 'none' }), deps())
    const controller = new AbortController()
    const closed = new Promise((resolve) => {
      const watch = () => {
        const [socket] = server.sockets
        if (socket === undefined) setImmediate(watch)
        else socket.once('close', resolve)
      }
      watch()
    })
    const parts: ModelPart[] = []
    await model.stream(emptyRequest, controller.signal, (batch) => {
      parts.push(...batch)
      controller.abort()
    })
    expect(textOf(parts)).toBe('Grüße')
    await closed
  })

  test('passes on the parts that arrived in one read with a failure', async () => {
    const server = await serve((response) => sendStream(response, fixture('openai/fixtures/azure-filtered.txt')))
    const model = await createModel(settings({ baseUrl: server.url, apiKey: 'none' }), deps())
    const parts: ModelPart[] = []
    const error = await failureFrom(async () => {
      await model.stream(emptyRequest, never, (batch) => {
        parts.push(...batch)
      })
    })
    expect(error).toMatchObject({ code: 'model_refused' })
    expect(parts).toEqual([{ type: 'text', delta: 'First' }])
  })

  test.each<[string, (response: http.ServerResponse) => void, string, string]>([
    [
      'a wrong key',
      (response) => response.writeHead(401).end('{"error":{"message":"bad k-12345"}}'),
      'model_auth_failed',
      'Check OPENAI_API_KEY',
    ],
    [
      'an unknown model',
      (response) => response.writeHead(404).end('{"error":{"message":"no such model"}}'),
      'model_not_found',
      '"fake"',
    ],
    [
      'a web page',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      'model_bad_request',
      'base_url',
    ],
    [
      'half an event',
      (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"choi'),
      'model_stream_dropped',
      'half-way',
    ],
    [
      'half an answer',
      (response) => sendStream(response, fixture('openai/fixtures/text.txt').slice(0, 2)),
      'model_stream_dropped',
      'half-way',
    ],
  ])('reports %s', async (_, answer, code, message) => {
    const server = await serve(answer)
    const model = await createModel(settings({ baseUrl: server.url, apiKey: 'k-12345' }), deps())
    const error = await failureFrom(ask(model))
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(String(error)).not.toContain('k-12345')
  })

  test('names the host that cannot be reached', async () => {
    const server = await serve(() => {})
    await server.close()
    const model = await createModel(settings({ baseUrl: server.url, apiKey: 'none' }), deps())
    expect(await failureFrom(ask(model))).toMatchObject({
      code: 'model_unreachable',
      message: `The model server at ${new URL(server.url).host} cannot be reached (connection refused). Is it running? Check base_url and the network.`,
    })
  })

  test('asks the fallback, another provider, when the first is down', async () => {
    const down = await serve((response) => response.writeHead(503).end())
    const up = await serve((response) => sendStream(response, fixture('anthropic/fixtures/text.txt')))
    const fallback = settings({ provider: 'anthropic', name: 'second', baseUrl: up.url, apiKey: 'k' })
    const model = await createModel(settings({ baseUrl: down.url, apiKey: 'none', fallback }), deps())
    expect(textOf(await ask(model))).toBe('Hello, 🚢!')
    expect([down.requests.length, up.requests.length]).toEqual([1, 1])
  })

  test('does not send the fallback files that only the first model can read', async () => {
    const down = await serve((response) => response.writeHead(503).end())
    const up = await serve((response) => sendStream(response, fixture('openai/fixtures/text.txt')))
    const fallback = settings({ baseUrl: up.url, apiKey: 'none' })
    const first = settings({ baseUrl: down.url, apiKey: 'none', input: ['text', 'image'], fallback })
    const attachments = [{ type: 'image', mimeType: 'image/png', data: 'cG5n', name: 'a.png', tokens: 1_500 }] as const
    const request = { ...emptyRequest, messages: [{ role: 'user', content: 'Look.', attachments } as const] }
    await collect(await createModel(first, deps()), request, never)
    const content = [
      { type: 'text', text: 'Look.' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,cG5n' } },
    ]
    expect(down.bodies).toMatchObject([{ messages: [{ role: 'user', content }] }])
    const words = 'Look.\n\n[image: a.png is not shown: this model cannot read such files.]'
    expect(up.bodies).toMatchObject([{ messages: [{ role: 'user', content: words }] }])
  })

  test('checks the key and the server, and accepts a server without a list of models', async () => {
    const server = await serve((response, request) => {
      const status = request.headers.authorization === 'Bearer good' ? 404 : 401
      response.writeHead(status).end('{}')
    })
    const check = async (apiKey: string) => {
      const model = await createModel(settings({ baseUrl: `${server.url}/v1`, apiKey }), deps())
      return failureFrom(model.check(never))
    }
    expect(await check('good')).toBeNull()
    expect(await check('bad')).toMatchObject({ code: 'model_auth_failed' })
    expect(server.requests).toMatchObject([{ method: 'GET', url: '/v1/models' }, { method: 'GET' }])
    await server.close()
    expect(await check('good')).toMatchObject({ code: 'model_unreachable' })
  })
})

describe('createModel', () => {
  test('makes the demo model and scripted models', async () => {
    const demo = await createModel(settings({ provider: 'demo', name: 'demo' }), deps())
    await demo.check(never)
    expect(demo.provider).toBe('demo')

    const folder = await mkdtemp(join(tmpdir(), 'create-model-'))
    cleanups.push(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'script.yaml'), '- parts: [{ text: Hi }]\n')
    const scripted = await createModel(
      settings({ provider: 'scripted', name: 's', script: 'script.yaml' }),
      deps(folder),
    )
    expect(await ask(scripted)).toEqual([
      { type: 'text', delta: 'Hi' },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test.each([
    ['openai', 'OPENAI_API_KEY'],
    ['azure', 'AZURE_OPENAI_API_KEY'],
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['google', 'GOOGLE_API_KEY or GEMINI_API_KEY'],
    ['gemini', 'GOOGLE_API_KEY or GEMINI_API_KEY'],
  ])('%s without a key says to set %s, and never answers with another model', async (provider, variable) => {
    for (const key of [{}, { apiKey: '' }]) {
      expect(await failureFrom(createModel(settings({ provider, ...key }), deps()))).toMatchObject({
        code: 'config_invalid',
        message: `provider: ${provider} needs a key. Set ${variable}, or write api_key under model. For a server without keys write api_key: none`,
      })
    }
  })

  test.each<[string, Partial<ModelSettings>, string]>([
    [
      'an unknown provider',
      { provider: 'opnai' },
      'model.provider: "opnai" is unknown. Write one of openai, azure, anthropic, google, gemini, ollama, ai-sdk, demo, scripted. For a server that speaks OpenAI\'s protocol, write provider: openai and its base_url.',
    ],
    [
      'a provider named like a method of objects',
      { provider: 'toString' },
      'model.provider: "toString" is unknown. Write one of openai, azure, anthropic, google, gemini, ollama, ai-sdk, demo, scripted. For a server that speaks OpenAI\'s protocol, write provider: openai and its base_url.',
    ],
    [
      'a key with a line end',
      { apiKey: 'sk-secret\n' },
      'The key in OPENAI_API_KEY or model.api_key contains a space, a line end or another character that keys never contain. Copy it again.',
    ],
    [
      'Azure without an address',
      { provider: 'azure', apiKey: 'k' },
      'provider: azure needs the address of your resource. Set AZURE_OPENAI_ENDPOINT, or write base_url: https://<resource>.openai.azure.com',
    ],
    [
      'a budget for a provider that has none',
      { apiKey: 'k', reasoning: { budgetTokens: 5 } },
      'provider: openai has no reasoning.budget_tokens. Write reasoning: { effort: low }, medium or high.',
    ],
    [
      'no script',
      { provider: 'scripted' },
      'provider: scripted needs a file. Write script: ./answers.yaml under model.',
    ],
    [
      'an address that is not valid',
      { provider: 'anthropic', apiKey: 'k', baseUrl: 'api.anthropic.com' },
      'model.base_url is not an http or https address. Write e.g. base_url: https://api.anthropic.com',
    ],
    [
      'a fallback without a key',
      { apiKey: 'k', fallback: settings({ provider: 'anthropic' }) },
      'provider: anthropic needs a key. Set ANTHROPIC_API_KEY, or write api_key under model. For a server without keys write api_key: none',
    ],
  ])('refuses %s and says what to write', async (_, more, message) => {
    expect(await failureFrom(createModel(settings(more), deps()))).toMatchObject({ code: 'config_invalid', message })
  })
})

describe('withSupportedAttachments', () => {
  const picture = { type: 'image', mimeType: 'image/png', data: 'aGk=', name: 'a.png', tokens: 1_500 } as const
  const report = { type: 'document', mimeType: 'application/pdf', data: 'aGk=', name: 'b.pdf', tokens: 2_000 } as const

  const messages: ModelMessage[] = [
    { role: 'user', content: 'Look.', attachments: [picture, report] },
    { role: 'assistant', content: 'Fine.', toolCalls: [] },
    { role: 'user', content: '', attachments: [picture] },
  ]

  async function told(input: ('text' | 'image' | 'pdf')[]): Promise<readonly ModelMessage[]> {
    const seen: ModelRequest[] = []
    const model = scriptedModel({
      answers: [{ parts: [{ text: 'ok' }] }],
      clock,
      onRequest: (request) => seen.push(request),
    })
    await collect(withSupportedAttachments(model, input), { ...emptyRequest, messages }, never)
    return seen[0]?.messages ?? []
  }

  test('a model that reads every kind of file gets all of them', async () => {
    expect(await told(['text', 'image', 'pdf'])).toEqual(messages)
  })

  test('a line of text replaces an attachment that the model cannot read', async () => {
    expect(await told(['text', 'image'])).toEqual([
      {
        role: 'user',
        content: 'Look.\n\n[document: b.pdf is not shown: this model cannot read such files.]',
        attachments: [picture],
      },
      messages[1],
      messages[2],
    ])
    expect((await told([])).at(-1)).toEqual({
      role: 'user',
      content: '[image: a.png is not shown: this model cannot read such files.]',
    })
  })
})
