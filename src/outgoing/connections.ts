// Connections to other people's servers: undici's pools and proxies, the choice between them ours.

import { setMaxListeners } from 'node:events'
import type { LookupFunction } from 'node:net'
import type { Client, Dispatcher } from 'undici'
import { ServerError } from '../domain/errors.ts'
import { chooseProxy, type ProxyChoice, type ProxyVariables, shownProxy } from './proxy-choice.ts'
import { quickReads } from './quick-reads.ts'

/** How a server is reached. */
export interface WayOut {
  /** The address of a proxy, or `false` for none; left out: the variables decide. */
  proxy?: string | false
  proxyVariables?: ProxyVariables
  connectTimeoutMs?: number
  /** PEM: who we are, and whom we trust in the place of the usual authorities. */
  tls?: { cert?: string; key?: string; ca?: string }
}

/** Where requests go: to their servers, or to a proxy. */
export interface Line {
  dispatcher: Dispatcher
  /** As it may be shown; null where there is none. */
  proxy: string | null
  connectTimeoutMs: number
}

export interface Lines {
  /** Throws `config_invalid` for a proxy that is none. A promise only until undici is loaded. */
  to(target: URL): Line | Promise<Line>
  /** Whether requests for it go through a proxy; throws like `to`. */
  isProxied(target: URL): boolean
  /** Like the global one, over these lines; but a redirect to another server fails. */
  readonly fetch: typeof fetch
  /** The proxies that were used so far, and who named them. */
  proxies(): readonly { proxy: string; from: string }[]
}

export interface Connections {
  /** One set of connections: those that are made in another way are never shared. */
  through(way: WayOut): Lines
  /** A client for one request to addresses that were judged; the name is not looked up again. `signal` closes it at any moment. */
  pinned(origin: URL, lookup: LookupFunction, signal: AbortSignal): Promise<Dispatcher>
  /** Loads undici now, so that the first request need not. */
  warm(): Promise<void>
  /** What is under way fails. */
  close(): void
}

type Undici = typeof import('undici')

/** Who does not answer until then is not there; a slow model answers to the connection at once. */
export const CONNECT_TIMEOUT_MS = 10_000
/** Most servers keep an idle connection for a minute or more; what they say themselves counts first. */
const IDLE_MS = 55_000
const LONGEST_IDLE_MS = 600_000
/** The server counts from an earlier moment than we. */
const EARLIER_MS = 1_000
const MAX_HEAD_BYTES = 64 * 1024

export function createConnections(): Connections {
  const open = new Set<Dispatcher>()
  // undici does not give up what is still connecting: only the socket itself can be told.
  const closing = new AbortController()
  setMaxListeners(0, closing.signal)
  let loading: Promise<Undici> | null = null
  let loaded: Undici | null = null

  // 50 ms and more, for an agent that may never ask anybody.
  const load = (): Promise<Undici> => {
    loading ??= import('undici').then((undici) => {
      loaded = undici
      return undici
    })
    return loading
  }

  function connect(undici: Undici, way: WayOut, proxy: ProxyChoice | null): Line {
    if (closing.signal.aborted) throw closed()
    const connectTimeoutMs = way.connectTimeoutMs ?? CONNECT_TIMEOUT_MS
    const options = { ...common, connectTimeout: connectTimeoutMs }
    const toAnybody = { timeout: connectTimeoutMs, allowH2: false, signal: closing.signal }
    const toServer = { ...way.tls, ...toAnybody }
    // One for all pools of the line: it keeps the TLS sessions, and a pool goes when its last connection does.
    const connector = undici.buildConnector(toServer)
    const connect: typeof connector = (to, done) =>
      connector(to, (...[error, socket]) => {
        if (error !== null) return done(error, null)
        quickReads(socket)
        done(null, socket)
      })
    const pool = (to: URL | string, more: object) =>
      new undici.Pool(to, { ...options, ...more, factory: countingFactory(undici) })
    const uri = proxy === null ? '' : `${proxy.url.protocol}//${proxy.url.host}/`
    let toProxy: Dispatcher | null = null
    const dispatcher =
      proxy === null
        ? new undici.Agent({ ...options, connect, factory: pool })
        : new undici.ProxyAgent({
            ...options,
            ...credentials(proxy.url),
            uri,
            factory: (to: URL | string, more: object) => {
              if (to !== uri) return pool(to, more)
              // What needs no tunnel: without this each server would have connections to the proxy of its own, and keep them.
              toProxy ??= pool(to, more)
              return toProxy
            },
            // The one that asks the proxy for tunnels: what it asks is part of connecting.
            clientFactory: (to: URL, more: object) => pool(to, { ...more, headersTimeout: connectTimeoutMs }),
            requestTls: toServer,
            proxyTls: toAnybody,
          })
    open.add(dispatcher)
    return { dispatcher, proxy: proxy === null ? null : shownProxy(proxy), connectTimeoutMs }
  }

  return {
    through(way) {
      const byProxy = new Map<string, Line>()
      const used = new Map<string, { proxy: string; from: string }>()
      const choose = (target: URL) => chooseProxy(target, way.proxy, way.proxyVariables ?? {})

      function to(target: URL): Line | Promise<Line> {
        const proxy = choose(target)
        const key = proxy?.url.href ?? ''
        const known = byProxy.get(key)
        if (known !== undefined) return known
        if (proxy !== null) used.set(key, { proxy: shownProxy(proxy), from: proxy.from })
        const make = (undici: Undici): Line => {
          // Several may have waited for undici.
          const line = byProxy.get(key) ?? connect(undici, way, proxy)
          byProxy.set(key, line)
          return line
        }
        return loaded === null ? load().then(make) : make(loaded)
      }

      let asking: Promise<typeof fetch> | null = null
      return {
        to,
        isProxied: (target) => choose(target) !== null,
        fetch: async (input, init) => {
          asking ??= load().then((undici) => fetchOver(undici, to))
          return (await asking)(input, init)
        },
        proxies: () => [...used.values()],
      }
    },
    async pinned(origin, lookup, signal) {
      const undici = loaded ?? (await load())
      if (closing.signal.aborted) throw closed()
      // `pipelining: 0` closes it after the answer: one that is kept could belong to an address that was judged for somebody else.
      const closes = AbortSignal.any([signal, closing.signal])
      const connect = { lookup, timeout: CONNECT_TIMEOUT_MS, allowH2: false, signal: closes }
      return new undici.Client(origin.origin, { ...common, pipelining: 0, connect })
    },
    async warm() {
      await load()
    },
    close() {
      for (const dispatcher of open) dispatcher.destroy().catch(() => {})
      open.clear()
      closing.abort()
    },
  }
}

const closed = (): Error => new Error('The connections to other servers are closed.')

const common = {
  // Our own clock says how long to wait for an answer and between its parts.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: LONGEST_IDLE_MS,
  keepAliveTimeoutThreshold: EARLIER_MS,
  maxHeaderSize: MAX_HEAD_BYTES,
  pipelining: 1,
  // As many as there are streams at once: a limit would have them wait for each other.
  connections: null,
  // One stream a connection: what is slow to read holds up nobody else.
  allowH2: false,
} as const

function credentials({ username, password }: URL): { token?: string } {
  if (username === '' && password === '') return {}
  return { token: basicAuth(username, password) }
}

/** The user and the password of an address, as a header. */
export function basicAuth(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`
}

/** A password with a bare % is meant as it is written. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A handler that wants to know whether its connection has served before. */
export interface KnowsConnection {
  usedAgain: boolean
}

/** undici does not tell a handler whether its connection is a new one; only then is a reset worth a second attempt. */
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
      if ('usedAgain' in handler) handler.usedAgain = this.#served > 0
      this.#served += 1
      return super.dispatch(options, handler)
    }
  }
  return (origin, options) => new CountingClient(origin, options)
}

/** A redirect is followed within its server: to another one the keys would go along, whatever header they are in. */
function fetchOver(undici: Undici, to: Lines['to']): typeof fetch {
  class OneServer extends undici.Dispatcher {
    #origin = ''

    override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      const origin = String(options.origin)
      this.#origin ||= origin
      if (origin !== this.#origin) {
        throw new ServerError(
          'config_invalid',
          `${this.#origin} redirects to ${origin}. Nothing is sent there: set the address to where it leads.`,
        )
      }
      const line = to(new URL(origin))
      // undici is loaded, or we would not be here.
      if (line instanceof Promise) throw new Error('undici is not loaded')
      return line.dispatcher.dispatch(options, handler)
    }
  }
  // The same standard twice: once in Node's types, once in undici's.
  return ((input: Parameters<Undici['fetch']>[0], init?: Parameters<Undici['fetch']>[1]) =>
    undici.fetch(input, { ...init, dispatcher: new OneServer() })) as unknown as typeof fetch
}
