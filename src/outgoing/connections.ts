// Connections to other servers. undici makes the connections and speaks to proxies; we choose the proxy.

import { setMaxListeners } from 'node:events'
import type { LookupFunction } from 'node:net'
import type { Client, Dispatcher } from 'undici'
import { ServerError } from '../domain/errors.ts'
import { decoded } from '../domain/text/decoded.ts'
import type { AnswerHandler } from './answer-reader.ts'
import type { StreamRequest } from './direct-client.ts'
import { chooseProxy, type ProxyChoice, type ProxyVariables, shownProxy } from './proxy-choice.ts'

export interface ConnectionOptions {
  /** The address of a proxy, or `false` for none. Without it, `proxyVariables` decide. */
  proxy?: string | false | undefined
  /** Null: no proxy, unless `proxy` names one. */
  proxyVariables: ProxyVariables | null
  connectTimeoutMs?: number | undefined
  /** PEM texts: our certificate and key, and the authority to trust instead of the usual ones. */
  tls?: { cert?: string; key?: string; ca?: string }
}

/** What takes requests for a server: connections to the server itself, or to a proxy. */
export interface Upstream {
  dispatcher: Dispatcher
  /**
   * For `exchange`. Without a proxy it is our own client, which reads a model's tokens for less. Through a proxy it is `dispatcher`.
   * Everything else uses `dispatcher`: fetch, tools, channels.
   */
  streams: { dispatch(request: StreamRequest, handler: AnswerHandler): unknown }
  /** The proxy's address without its password; null when there is no proxy. */
  proxy: string | null
  connectTimeoutMs: number
}

export interface ConnectionPool {
  /** Throws `config_invalid` when the proxy's address is not valid. Returns a promise only until undici is loaded. */
  upstreamFor(target: URL): Upstream | Promise<Upstream>
  /** Whether requests to `target` go through a proxy. Throws like `upstreamFor`. */
  isProxied(target: URL): boolean
  /** Like the global `fetch`, over this pool; but a redirect to another server fails. */
  readonly fetch: typeof fetch
  /** The proxies that were used so far, and the setting or variable that named each. */
  proxies(): readonly { proxy: string; from: string }[]
}

export interface Connections {
  /** A pool of its own. Connections are never shared between pools, because their options may differ. */
  pool(options: ConnectionOptions): ConnectionPool
  /** A client for one request to addresses that were checked; it does not look the name up again. `signal` closes it at any time. */
  pinned(origin: URL, lookup: LookupFunction, signal: AbortSignal): Promise<Dispatcher>
  /** Loads undici now, so that the first request does not have to. */
  warm(): Promise<void>
  /** Fails the requests that are under way. */
  close(): void
}

type Undici = typeof import('./undici-parts.ts')

/** Even a slow model's server accepts a connection at once, so one that needs longer than this is not there. */
export const CONNECT_TIMEOUT_MS = 10_000
/** Most servers keep an idle connection for a minute or more. A `keep-alive` header of the server wins over this. */
const IDLE_MS = 55_000
const LONGEST_IDLE_MS = 600_000
/** The server began to count before we did, so we close earlier. */
const EARLIER_MS = 1_000
const MAX_HEAD_BYTES = 64 * 1024

export function createConnections(): Connections {
  const open = new Set<{ destroy(): Promise<void> }>()
  // undici does not stop a connection that is still being made; only a signal on the socket does.
  const closing = new AbortController()
  setMaxListeners(0, closing.signal)
  let loading: Promise<Undici> | null = null
  let loaded: Undici | null = null

  // Loading takes 50 ms and more, and an agent may never need it.
  const load = (): Promise<Undici> => {
    loading ??= import('./undici-parts.ts').then((undici) => {
      // As undici's main module does: `request`, and `connect` for tunnels.
      Object.assign(undici.Dispatcher.prototype, undici.api)
      loaded = undici
      return undici
    })
    return loading
  }

  function connect(undici: Undici, wanted: ConnectionOptions, proxy: ProxyChoice | null): Upstream {
    if (closing.signal.aborted) throw closed()
    const connectTimeoutMs = wanted.connectTimeoutMs ?? CONNECT_TIMEOUT_MS
    const options = { ...common, connectTimeout: connectTimeoutMs }
    const toProxyOrServer = { timeout: connectTimeoutMs, allowH2: false, signal: closing.signal }
    const toServer = { ...wanted.tls, ...toProxyOrServer }
    if (proxy === null) {
      // One connector for all of undici's pools here: it keeps the TLS sessions, and a pool is gone when its last connection closes.
      const dispatcher = new undici.Agent({ ...options, connect: undici.buildConnector(toServer) })
      const streams = new undici.DirectClient((onread) => undici.buildConnector({ ...toServer, onread }), common)
      open.add(dispatcher).add(streams)
      return { dispatcher, streams, proxy: null, connectTimeoutMs }
    }
    const createPool = (to: URL | string, more: object) =>
      new undici.Pool(to, { ...options, ...more, factory: countingFactory(undici) })
    const uri = `${proxy.url.protocol}//${proxy.url.host}/`
    let toProxy: Dispatcher | null = null
    const dispatcher = new undici.ProxyAgent({
      ...options,
      ...credentials(proxy.url),
      uri,
      factory: (to: URL | string, more: object) => {
        if (to !== uri) return createPool(to, more)
        // For requests that need no tunnel. Otherwise undici would keep separate connections to the proxy for each server.
        toProxy ??= createPool(to, more)
        return toProxy
      },
      // This client asks the proxy for tunnels. Waiting for one is part of connecting.
      clientFactory: (to: URL, more: object) => createPool(to, { ...more, headersTimeout: connectTimeoutMs }),
      requestTls: toServer,
      proxyTls: toProxyOrServer,
    })
    open.add(dispatcher)
    return { dispatcher, streams: dispatcher, proxy: shownProxy(proxy), connectTimeoutMs }
  }

  return {
    pool(options) {
      const byProxy = new Map<string, Upstream>()
      const used = new Map<string, { proxy: string; from: string }>()
      const choose = (target: URL) => chooseProxy(target, options.proxy, options.proxyVariables ?? {})

      function upstreamFor(target: URL): Upstream | Promise<Upstream> {
        const proxy = choose(target)
        const key = proxy?.url.href ?? ''
        const known = byProxy.get(key)
        if (known !== undefined) return known
        if (proxy !== null) used.set(key, { proxy: shownProxy(proxy), from: proxy.from })
        const make = (undici: Undici): Upstream => {
          // Several requests may have waited for undici.
          const upstream = byProxy.get(key) ?? connect(undici, options, proxy)
          byProxy.set(key, upstream)
          return upstream
        }
        return loaded === null ? load().then(make) : make(loaded)
      }

      let fetching: Promise<typeof fetch> | null = null
      return {
        upstreamFor,
        isProxied: (target) => choose(target) !== null,
        fetch: async (input, init) => {
          fetching ??= Promise.all([import('undici'), load()]).then(([undici]) => fetchOver(undici, upstreamFor))
          return (await fetching)(input, init)
        },
        proxies: () => [...used.values()],
      }
    },
    async pinned(origin, lookup, signal) {
      const undici = loaded ?? (await load())
      if (closing.signal.aborted) throw closed()
      // `pipelining: 0` closes the connection after the answer. A kept one could lead to an address that was checked for another request.
      const closes = AbortSignal.any([signal, closing.signal])
      const connect = { lookup, timeout: CONNECT_TIMEOUT_MS, allowH2: false, signal: closes }
      return new undici.Client(origin.origin, { ...common, pipelining: 0, connect })
    },
    async warm() {
      await load()
    },
    close() {
      for (const upstream of open) upstream.destroy().catch(() => {})
      open.clear()
      closing.abort()
    },
  }
}

const closed = (): Error => new Error('The connections to other servers are closed.')

const common = {
  // Our own clock limits how long we wait for an answer and between its parts.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: LONGEST_IDLE_MS,
  keepAliveTimeoutThreshold: EARLIER_MS,
  maxHeaderSize: MAX_HEAD_BYTES,
  pipelining: 1,
  // No limit: streams would have to wait for each other.
  connections: null,
  // One stream per connection, so that a slow reader does not delay other streams.
  allowH2: false,
} as const

function credentials({ username, password }: URL): { token?: string } {
  if (username === '' && password === '') return {}
  return { token: basicAuth(username, password) }
}

/** The user and the password of an address, as an `authorization` header. */
export function basicAuth(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`
}

/** undici does not tell a handler whether its connection is new. A second attempt after a reset makes sense only when it is not. */
function countingFactory({ Client }: Undici): (origin: URL, options: object) => Client {
  class CountingClient extends Client {
    #served = 0
    constructor(origin: URL, options: object) {
      super(origin, options)
      this.on('disconnect', () => {
        this.#served = 0
      })
    }
    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      if ('isReused' in handler) handler.isReused = this.#served > 0
      this.#served += 1
      return super.dispatch(options, handler)
    }
  }
  return (origin, options) => new CountingClient(origin, options)
}

/** Follows a redirect within the same server only: another server would get the keys, whatever header they are in. */
function fetchOver(undici: typeof import('undici'), upstreamFor: ConnectionPool['upstreamFor']): typeof fetch {
  class OneServer extends undici.Dispatcher {
    #origin = ''

    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      const origin = String(options.origin)
      this.#origin ||= origin
      if (origin !== this.#origin) {
        throw new ServerError(
          'config_invalid',
          `${this.#origin} redirects to ${origin}. Nothing was sent there. Set the address to ${origin} if you trust it.`,
        )
      }
      const upstream = upstreamFor(new URL(origin))
      // Both parts of undici were loaded before.
      if (upstream instanceof Promise) throw new Error('undici is not loaded')
      return upstream.dispatcher.dispatch(options, handler)
    }
  }
  // Node's types and undici's types describe the same standard, but TypeScript cannot know.
  return ((input: Parameters<typeof undici.fetch>[0], init?: Parameters<typeof undici.fetch>[1]) =>
    undici.fetch(input, { ...init, dispatcher: new OneServer() })) as unknown as typeof fetch
}
