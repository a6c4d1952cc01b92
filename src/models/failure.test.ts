import { describe, expect, test } from 'vitest'
import type { ErrorCode } from '../domain/errors.ts'
import { notAStream, reportedFailure, statusFailure, unreachable } from './failure.ts'
import { target } from './testing/fixtures.ts'

const fail = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  statusFailure({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }, target, 0)

const openai = (message: string, type: string, code: string | null = null) => ({
  error: { message, type, param: null, code },
})
const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message } })
const google = (code: number, status: string, message: string, details: unknown[] = []) => ({
  error: { code, message, status, details },
})

const cases: [name: string, code: ErrorCode, retryable: boolean, status: number, body: unknown][] = [
  [
    'OpenAI: wrong key',
    'model_auth_failed',
    false,
    401,
    openai('Incorrect API key provided', 'invalid_request_error', 'invalid_api_key'),
  ],
  ['Anthropic: wrong key', 'model_auth_failed', false, 401, anthropic('authentication_error', 'invalid x-api-key')],
  ['Anthropic: forbidden', 'model_auth_failed', false, 403, anthropic('permission_error', 'Your key cannot do this')],
  [
    'Gemini: wrong key is a 400',
    'model_auth_failed',
    false,
    400,
    google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'),
  ],
  [
    'xAI: wrong key is a 400',
    'model_auth_failed',
    false,
    400,
    { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: ab***yz.' },
  ],
  [
    'OpenAI: unknown model',
    'model_not_found',
    false,
    404,
    openai('The model `x` does not exist', 'invalid_request_error', 'model_not_found'),
  ],
  [
    'OpenAI: model of another project',
    'model_not_found',
    false,
    403,
    openai('Project has no access to model x', 'invalid_request_error', 'model_not_found'),
  ],
  ['Anthropic: unknown model', 'model_not_found', false, 404, anthropic('not_found_error', 'model: claude-x')],
  [
    'Gemini: unknown model',
    'model_not_found',
    false,
    404,
    google(404, 'NOT_FOUND', 'models/x is not found for API version v1beta'),
  ],
  [
    'Azure: unknown deployment',
    'model_not_found',
    false,
    404,
    { error: { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' } },
  ],
  ['Ollama: unknown model', 'model_not_found', false, 404, { error: 'model "x" not found, try pulling it first' }],
  [
    'Mistral: unknown model is a 400',
    'model_not_found',
    false,
    400,
    { object: 'error', message: 'Invalid model: x', type: 'invalid_model', code: '1500' },
  ],
  [
    'DeepSeek: unknown model is a 400',
    'model_not_found',
    false,
    400,
    openai('Model Not Exist', 'invalid_request_error', 'invalid_request_error'),
  ],
  [
    'OpenAI: rate',
    'model_rate_limited',
    true,
    429,
    openai('Rate limit reached for requests', 'requests', 'rate_limit_exceeded'),
  ],
  [
    'OpenAI: quota',
    'model_rate_limited',
    false,
    429,
    openai('You exceeded your current quota', 'insufficient_quota', 'insufficient_quota'),
  ],
  ['DeepSeek: balance', 'model_rate_limited', false, 402, openai('Insufficient Balance', 'unknown_error')],
  [
    'Anthropic: credit is a 400',
    'model_rate_limited',
    false,
    400,
    anthropic('invalid_request_error', 'Your credit balance is too low to access the API.'),
  ],
  [
    'Anthropic: rate',
    'model_rate_limited',
    true,
    429,
    anthropic('rate_limit_error', 'This request would exceed your rate limit'),
  ],
  ['Gemini: rate', 'model_rate_limited', true, 429, google(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted')],
  [
    'OpenAI: context',
    'model_context_overflow',
    false,
    400,
    openai("This model's maximum context length is 8192 tokens.", 'invalid_request_error', 'context_length_exceeded'),
  ],
  [
    'vLLM: context',
    'model_context_overflow',
    false,
    400,
    {
      object: 'error',
      message: "This model's maximum context length is 4096 tokens.",
      type: 'BadRequestError',
      code: 400,
    },
  ],
  [
    'llama.cpp: context',
    'model_context_overflow',
    false,
    400,
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size',
        type: 'exceed_context_size_error',
      },
    },
  ],
  [
    'xAI: context',
    'model_context_overflow',
    false,
    400,
    { error: "This model's maximum prompt length is 131072 but the request contains 140000 tokens." },
  ],
  [
    'Anthropic: context',
    'model_context_overflow',
    false,
    400,
    anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
  ],
  [
    'Anthropic: size',
    'model_context_overflow',
    false,
    413,
    anthropic('request_too_large', 'Request exceeds the maximum size'),
  ],
  [
    'Gemini: context',
    'model_context_overflow',
    false,
    400,
    google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
  ],
  ['OpenAI: down', 'model_failed', true, 500, openai('The server had an error', 'server_error')],
  ['Anthropic: overloaded', 'model_failed', true, 529, anthropic('overloaded_error', 'Overloaded')],
  ['a proxy: down', 'model_failed', true, 502, '<html>Bad Gateway</html>'],
  ['a proxy: slow', 'model_failed', true, 408, ''],
  [
    'Azure: the prompt was filtered',
    'model_refused',
    false,
    400,
    { error: { message: 'filtered', code: 'content_filter', innererror: { code: 'ResponsibleAIPolicyViolation' } } },
  ],
  [
    'OpenAI: bad request',
    'model_bad_request',
    false,
    400,
    openai("Unsupported value: 'temperature'", 'invalid_request_error', 'unsupported_value'),
  ],
  [
    'Mistral: bad request',
    'model_bad_request',
    false,
    422,
    { object: 'error', message: { detail: [{ loc: ['body', 'x'], msg: 'Extra inputs are not permitted' }] } },
  ],
  ['a redirect', 'model_bad_request', false, 301, ''],
]

describe('failure of a status', () => {
  test.each(cases)('%s → %s', (_, code, retryable, status, body) => {
    const error = fail(status, body)
    expect({ code: error.code, retryable: error.details.retryable }).toEqual({ code, retryable })
  })

  test.each([
    ['https://elsewhere.test/v1/chat/completions?key=secret', 'https://elsewhere.test/v1/chat/completions'],
    ['https://me:secret@elsewhere.test/v1', 'https://elsewhere.test/v1'],
    ['/openai/v1/chat?key=secret#x', '/openai/v1/chat'],
  ])('a redirect names its target without possible secrets: %s', (location, shown) => {
    for (const status of [307, 308]) {
      const error = statusFailure({ status, headers: { location }, body: '' }, target, 0)
      expect(error.message).toBe(
        `The server at model.test redirects (${status}) to ${shown}. The key was not sent there. Set base_url to the new address if you trust it.`,
      )
      expect(error).toMatchObject({ code: 'model_bad_request', details: { retryable: false, status } })
    }
  })

  test('says what to check, and repeats what the provider said', () => {
    const error = fail(401, anthropic('authentication_error', 'invalid x-api-key'))
    expect(error.message).toBe(
      "The model server at model.test refused the key (401). Check TEST_API_KEY, or model.api_key in the agent's file. It says: invalid x-api-key",
    )
    expect(error.details).toEqual({ provider: 'test', model: 'test-model', retryable: false, status: 401 })
  })

  test('reads problems that come as a list', () => {
    const body = { detail: [{ loc: ['body', 'messages', 0], msg: 'Field required' }] }
    expect(fail(422, body).message).toBe(
      'The model server at model.test refused the request (422). It says: body.messages.0 Field required',
    )
  })

  test('says how long to wait, from the headers or from the body of Gemini', () => {
    expect(fail(429, '', { 'retry-after': '7' }).details).toMatchObject({ retryAfter: 7 })
    expect(fail(503, '', { 'retry-after': '2' }).details).toMatchObject({ retryAfter: 2 })
    const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }
    const body = [google(429, 'RESOURCE_EXHAUSTED', 'slow down', [{}, info])]
    expect(fail(429, body).details).toMatchObject({ retryAfter: 34.5 })
  })

  test('never repeats a key, whole bodies or control characters', () => {
    const secret = 'hush-hush-123'
    const body = openai(`Wrong key ${secret}\n or sk-proj-abcdefgh1234****wxyz \u001b[31m${'x'.repeat(2000)}`, 'error')
    const { message } = statusFailure(
      { status: 401, headers: {}, body: JSON.stringify(body) },
      { ...target, apiKey: secret },
      0,
    )
    expect(message).not.toContain(secret)
    expect(message).not.toContain('sk-proj')
    expect(message).toMatch(/It says: Wrong key \*\*\* or \*\*\* \[31mx+…$/)
    expect(message.length).toBeLessThan(700)
    expect(fail(500, '<html>secret page</html>').message).toBe('The model server at model.test failed (500).')
  })
})

describe('failure of a connection', () => {
  test.each([
    ['ECONNREFUSED', 'connection refused'],
    ['ENOTFOUND', 'its name cannot be resolved'],
    ['ECONNRESET', 'connection reset'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is not trusted: DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['BAD_HTTP', 'its answer is not valid HTTP/1.1'],
    [undefined, 'network error'],
  ])('%s: names the host and asks whether it is running', (code, reason) => {
    const error = unreachable({ code }, target)
    expect({ code: error.code, message: error.message, details: error.details }).toEqual({
      code: 'model_unreachable',
      message: `The model server at model.test cannot be reached (${reason}). Is it running? Check base_url and the network.`,
      details: { provider: 'test', model: 'test-model', retryable: true },
    })
  })
})

describe('failure of a connection that was never made', () => {
  const through = { proxy: 'http://proxy.test:3128' }
  test.each<[string, object, boolean, string]>([
    [
      'no server answers',
      { code: 'CONNECT_TIMEOUT', connectTimeoutMs: 10_000, address: 'model.test:443' },
      true,
      'No connection could be made to model.test:443 within 10 s: no server answers there. Check base_url, the network and whether a proxy is needed (HTTPS_PROXY, model.proxy).',
    ],
    [
      'no server answers behind the proxy',
      { code: 'CONNECT_TIMEOUT', connectTimeoutMs: 10_000, ...through },
      true,
      'No connection could be made to model.test through the proxy http://proxy.test:3128 within 10 s: no server answers there. Check base_url, the network and whether a proxy is needed (HTTPS_PROXY, model.proxy).',
    ],
    [
      'the proxy is down',
      { code: 'ECONNREFUSED', ...through },
      true,
      'The model server at model.test cannot be reached through the proxy http://proxy.test:3128 (connection refused). Check the proxy, or exempt the server with NO_PROXY.',
    ],
    [
      'the proxy wants a password',
      { code: 'PROXY_REFUSED_407', ...through },
      false,
      'The proxy http://proxy.test:3128 requires a name and a password (407). Add them to its address: http://name:password@host:port',
    ],
    [
      'the proxy cannot reach it either',
      { code: 'PROXY_REFUSED_502', ...through },
      true,
      'The proxy http://proxy.test:3128 did not connect to model.test (502). Allow the server in the proxy, or exempt it with NO_PROXY.',
    ],
  ])('%s', (_, error, retryable, message) => {
    const failure = unreachable(error, target)
    expect([failure.code, failure.details.retryable, failure.message]).toEqual([
      'model_unreachable',
      retryable,
      message,
    ])
  })
})

describe('failure inside a 200', () => {
  test.each<[unknown, ErrorCode, boolean]>([
    [{ type: 'overloaded_error', message: 'x' }, 'model_failed', true],
    [{ type: 'rate_limit_error', message: 'x' }, 'model_rate_limited', true],
    [{ type: 'insufficient_quota', message: 'x' }, 'model_rate_limited', false],
    [{ type: 'authentication_error', message: 'x' }, 'model_auth_failed', false],
    [{ type: 'invalid_request_error', message: 'x' }, 'model_bad_request', false],
    [{ code: 429, message: 'x' }, 'model_rate_limited', true],
    [{ message: 'Trying to keep the first 9000 tokens when context length is 4096' }, 'model_context_overflow', false],
    ['something broke', 'model_failed', true],
    [null, 'model_failed', true],
  ])('%j → %s', (error, code, retryable) => {
    const failure = reportedFailure(error, target)
    expect({ code: failure.code, retryable: failure.details.retryable }).toEqual({ code, retryable })
  })

  test('a web page instead of a stream points at base_url; an error object is read as an error', () => {
    const page = notAStream({ status: 200, headers: { 'content-encoding': 'identity' }, body: '<html>' }, target)
    expect({ code: page.code, message: page.message }).toEqual({
      code: 'model_bad_request',
      message:
        'The server at model.test did not answer with an event stream. Check that base_url is the address of a model API (most end in /v1).',
    })
    const error = notAStream({ status: 200, headers: {}, body: '{"error":{"type":"overloaded_error"}}' }, target)
    expect(error.code).toBe('model_failed')
  })

  test('an answer with an unknown compression is reported as such', () => {
    const { code, message, details } = notAStream(
      { status: 200, headers: { 'content-encoding': 'zstd' }, body: '' },
      target,
    )
    expect({ code, message, details }).toEqual({
      code: 'model_bad_request',
      message:
        'The server at model.test compressed its answer with an encoding that was not asked for (zstd). Switch it off there, or in the proxy in front of it.',
      details: { provider: 'test', model: 'test-model', retryable: false, status: 200 },
    })
  })
})
