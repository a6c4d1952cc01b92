// Requests to one server: its address, the token, and retries for errors that pass.

import { ClientError, errorOfResponse, jsonObject } from './client-error.ts'

export interface ConnectionOptions {
  url: string
  token: string | null
  fetch: typeof fetch
  /** Maximum number of retries in a row. */
  retries: number
  /** Waits. Rejects with the reason of the signal if it aborts first. */
  sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

export interface CallOptions {
  signal?: AbortSignal | undefined
}

/** Of a list that comes in pages. */
export interface PageOptions extends CallOptions {
  limit?: number
  /** `next` of the page before. */
  before?: string
}

/** `passkey`: see `WithProof`. */
interface ProvenOptions extends CallOptions {
  passkey?: string | undefined
}

export interface Call extends CallOptions {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  headers?: Record<string, string>
  body?: unknown
  /** Instead of `body`. */
  form?: FormData
}

export interface Connection {
  /** Tries once. Throws `ClientError` if the server refuses or cannot be reached. */
  once(call: Call): Promise<Response>
  /** Sends and reads, and retries if that can help. A POST must have an Idempotency-Key or be harmless to repeat. */
  patiently<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T>
  /** Waits before the next try. Throws `error` after too many; `tries` counts the failures in a row. */
  pause(tries: number, error: unknown, signal: AbortSignal | undefined): Promise<void>
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5_000

export function createConnection({ url, token, fetch, retries, sleep }: ConnectionOptions): Connection {
  const base = baseOf(url)
  const credential: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` }

  async function once({ method, path, headers = {}, body, form, signal }: Call): Promise<Response> {
    let response: Response
    try {
      response = await fetch(base + path, {
        method,
        headers: {
          ...credential,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(form === undefined ? {} : { body: form }),
        ...(signal === undefined ? {} : { signal }),
      })
    } catch (error) {
      throw brokenBy(error, signal)
    }
    if (!response.ok) throw await errorOfResponse(response)
    return response
  }

  async function pause(tries: number, error: unknown, signal: AbortSignal | undefined): Promise<void> {
    if (tries > retries || !passes(error)) throw error
    const backOff = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS)
    await sleep(backOff, signal)
  }

  return {
    once,
    pause,
    async patiently(call, read) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await read(await once(call))
        } catch (error) {
          await pause(tries, brokenBy(error, call.signal), call.signal)
        }
      }
    },
  }
}

/** Requests with answers in JSON. */
export interface Calls {
  /** Retries if that can help. */
  json: <T>(call: Call) => Promise<T>
  /** The same for an answer that is a text. */
  text: (call: Call) => Promise<string>
  /** The same for GET. */
  get: <T>(path: string, options?: CallOptions) => Promise<T>
  /** The same for POST. It must be harmless to repeat. */
  post: <T>(path: string, body: object, options?: CallOptions) => Promise<T>
  /** POST. Never retries. */
  postOnce: <T>(path: string, body: object, options?: ProvenOptions) => Promise<T>
  /** For an answer without a body. Retries if that can help. */
  empty: (call: Call) => Promise<void>
  /** The same for DELETE. */
  remove: (path: string, options?: ProvenOptions) => Promise<void>
  /** One page of many. `next` begins the next one, as its `before` or its `after`; null on the last page. */
  page: <T>(path: string, options: CallOptions, by?: 'before' | 'after') => Promise<T & { next: string | null }>
  /** The same for an answer that is a list. */
  listPage: <T>(path: string, options: CallOptions) => Promise<{ list: T[]; next: string | null; total: number | null }>
}

export function createCalls({ once, patiently }: Connection): Calls {
  const json: Calls['json'] = (call) => patiently(call, (response) => objectIn(response, call))
  const text: Calls['text'] = (call) => patiently(call, (response) => response.text())
  const empty: Calls['empty'] = async (call) => void (await text(call))
  return {
    json,
    text,
    get: (path, { signal } = {}) => json({ method: 'GET', path, signal }),
    post: (path, body, { signal } = {}) => json({ method: 'POST', path, body, signal }),
    async postOnce(path, body, { signal, passkey } = {}) {
      const call: Call = { method: 'POST', path, headers: proofHeaders(passkey), body, signal }
      return objectIn(await once(call), call)
    },
    empty,
    remove: (path, { signal, passkey } = {}) =>
      empty({ method: 'DELETE', path, headers: proofHeaders(passkey), signal }),
    page: <T>(path: string, { signal }: CallOptions, by = 'before') => {
      const call: Call = { method: 'GET', path, signal }
      return patiently(call, async (response) => ({
        ...(await objectIn<T>(response, call)),
        next: nextIn(response, by),
      }))
    },
    listPage(path, { signal }) {
      const call: Call = { method: 'GET', path, signal }
      return patiently(call, async (response) => ({
        list: await listIn(response, call),
        next: nextIn(response, 'before'),
        total: totalIn(response),
      }))
    },
  }
}

async function objectIn<T>(response: Response, { path }: Call): Promise<T> {
  const { status } = response
  const body = jsonObject(await response.text())
  if (body === null) {
    const message = `The answer of ${path} is not a JSON object. Check the address.`
    throw new ClientError('unexpected_answer', message, { status })
  }
  if (status === 202 && body.status === 'waiting') {
    throw new ClientError('waiting', 'The run waits for a person.', { status, problem: body })
  }
  return body as T
}

async function listIn<T>(response: Response, { path }: Call): Promise<T[]> {
  const body: unknown = await response.json().catch(() => null)
  if (Array.isArray(body)) return body
  const message = `The answer of ${path} is not a JSON list. Check the address.`
  throw new ClientError('unexpected_answer', message, { status: response.status })
}

/** Where the next page begins; null: this is the last. */
export function nextIn({ headers }: Response, by: string): string | null {
  const found = new RegExp(`[?&]${by}=([^&>]+)`).exec(headers.get('link') ?? '')?.[1]
  return found === undefined ? null : decodeURIComponent(found.replaceAll('+', ' '))
}

/** Null: the answer does not say how many there are. */
function totalIn({ headers }: Response): number | null {
  const text = headers.get('x-total-count')
  return text === null ? null : Number(text)
}

const proofHeaders = (passkey: string | undefined): Record<string, string> =>
  passkey === undefined ? {} : { 'X-Passkey': passkey }

/** The path of one thing: `/runs/ID`, and what follows. */
export const at = (collection: string, id: string, rest = ''): string =>
  `/${collection}/${encodeURIComponent(id)}${rest}`

export function queryOf(given: Record<string, string | number | boolean | undefined>): string {
  const pairs = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** The error for a failed `fetch` or a broken body: the caller's own abort, or an unreachable server. */
export function brokenBy(error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof ClientError) return error
  if (signal?.aborted) return signal.reason
  const reason = error instanceof Error ? reasonOf(error) : String(error)
  return new ClientError('unreachable', `The server cannot be reached (${reason}).`, { cause: error })
}

const reasonOf = ({ cause, message }: Error): string => {
  if (!(cause instanceof Error)) return message
  return cause.message || ('code' in cause ? String(cause.code) : message)
}

/** Whether the same request may soon succeed: the server is away, starting or stopping. */
function passes(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false
  if (error.code === 'unreachable' || error.code === 'not_ready' || error.code === 'shutting_down') return true
  // From a proxy in front of a restarting server.
  return error.code === 'unexpected_answer' && error.status !== null && [502, 503, 504].includes(error.status)
}

function baseOf(url: string): string {
  if (!/^https?:\/\/./.test(url)) {
    throw new TypeError(`${JSON.stringify(url)} is not the address of a server. Write one like http://127.0.0.1:8000.`)
  }
  return url.replace(/\/+$/, '')
}

/** Waits. Rejects with the reason of the signal if it aborts first. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const leave = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }, ms)
    signal?.addEventListener('abort', leave, { once: true })
  })
}
