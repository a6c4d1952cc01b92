// Who is signed in to which MCP server: the tokens, how they are renewed, and how a person signs in.
//
// A refresh token works once, and several processes may need a new token at the same moment. So whoever refreshes first writes down that
// they do (`refreshing_until`), by compare and set; the others wait for what comes of it. If that process is killed in between, nobody
// knows whether the refresh token was used. After the time has run out another process tries it once more: at worst the authorization
// server calls it void, and a person has to sign in again.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { FetchLike } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { type Clock, sleep } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Logger } from '../../../domain/logger.ts'
import { sha256 } from '../../../json/digest.ts'
import { whoIs } from '../connection/mcp-failure.ts'
import { loadSdk } from '../connection/sdk.ts'
import {
  AuthoritySchema,
  BegunSchema,
  beginSignIn,
  checkIssuer,
  clientMetadata,
  endSignIn,
  isVoid,
  type OAuthDeps,
  refreshTokens,
  TokensSchema,
} from './oauth.ts'
import { type AuthServer, type SignIn, signInNeeded } from './sign-in.ts'

export interface SignInState {
  /** Where somebody is signed in; null: nobody is. */
  issuer: string | null
  scope: string | null
  at: number | null
  by: string | null
  /** Rights that a call has lacked. */
  lacks: string | null
  /** Why nobody is signed in any more, or why the last try failed. */
  problem: string | null
}

export interface BeginOptions {
  server: AuthServer
  /** Null: for everybody. */
  user: string | null
  by: string
  /** Known to the browser that began. Null: the callback may come from any browser. */
  browser: string | null
}

/** Is told when a person has to do something, and when that is done. Must not throw. */
export interface SignInListener {
  needed(server: AuthServer, user: string | null, why: string): void
  done(server: AuthServer, user: string | null): void
}

/** The part of the shared records that is used; see `store/ports/shared.ts`. */
export interface SignInStore {
  get(kind: string, key: string): Promise<{ value: string; version: number } | null>
  put(record: {
    kind: string
    key: string
    value: string
    version: number | null
    expiresAt: number | null
  }): Promise<boolean>
  take(kind: string, key: string): Promise<{ value: string } | null>
}

interface ListedSignIns extends Pick<SignInStore, 'take'> {
  list(kind: string): Promise<{ key: string; value: string }[]>
}

export interface Opened {
  store: SignInStore
  /** Where browsers open this server, without a slash at the end. */
  base: string
  listener: SignInListener
}

export interface SignInsDeps {
  clock: Clock
  log: Logger
  /** For the address that the settings name. */
  fetch: typeof fetch
  /** For addresses that the server names. */
  guarded(url: string, allowPrivate: boolean): FetchLike
}

export const SIGN_IN = 'mcp_sign_in'
const BEGUN = 'mcp_sign_in_begun'

export const CALLBACK_PATH = '/sign-ins/callback'
export const DOCUMENT_PATH = '/sign-ins/client.json'

/** A person finds their password meanwhile. */
const BEGUN_MS = 10 * 60_000
/** Longer than the request may take. */
const REFRESH_MS = 40_000
const LOOK_MS = 100
/** A token that is refused so soon after a refresh will not get better by another one. */
const PATIENCE_MS = 2 * 60_000
const MOST_PROBE_MS = 15_000

const RecordSchema = z.object({
  /** The key again: records of the config folder are found by it. */
  key: z.string(),
  server: z.string(),
  url: z.string(),
  user: z.string().nullable(),
  by: z.string(),
  signed_in_at: z.number(),
  authority: AuthoritySchema.nullable(),
  tokens: TokensSchema.nullable(),
  refreshing_until: z.number().nullable(),
  /** When a refused token was renewed last. */
  renewed_at: z.number().nullable(),
  lacks: z.string().nullable(),
  problem: z.string().nullable(),
})
type SignInRecord = z.infer<typeof RecordSchema>

const StateSchema = BegunSchema.extend({
  server: z.string(),
  url: z.string(),
  user: z.string().nullable(),
  by: z.string(),
  browser: z.string().nullable(),
})

export type SignIns = ReturnType<typeof createSignIns>

/** `servers`: all that the settings name. Nothing works before `open`. */
export function createSignIns(servers: readonly AuthServer[], deps: SignInsDeps) {
  const { clock, log } = deps
  let opened: Opened | null = null
  /** Of this process: several calls at once renew a token once. */
  const renewing = new Map<string, Promise<SignInRecord | null>>()

  function parts(): Opened {
    if (opened === null) throw new ServerError('not_ready', 'The server is still starting.')
    return opened
  }

  const keyOf = (server: AuthServer, user: string | null) => sha256(JSON.stringify([server.name, server.url, user]))

  async function read(key: string): Promise<{ record: SignInRecord; version: number } | null> {
    const found = await parts().store.get(SIGN_IN, key)
    if (found === null) return null
    const record = RecordSchema.safeParse(JSON.parse(found.value))
    if (record.success) return { record: record.data, version: found.version }
    log.warn('A sign-in cannot be read, so it counts as none.', { key })
    return null
  }

  const write = (record: SignInRecord, version: number | null): Promise<boolean> =>
    parts().store.put({ kind: SIGN_IN, key: record.key, value: JSON.stringify(record), version, expiresAt: null })

  /** Writes what `change` makes of the record, unless it is gone or `change` gives null. */
  async function update(key: string, change: (was: SignInRecord) => SignInRecord | null): Promise<void> {
    for (;;) {
      const found = await read(key)
      const next = found === null ? null : change(found.record)
      if (found === null || next === null || (await write(next, found.version))) return
    }
  }

  async function oauth({ url, auth }: AuthServer): Promise<OAuthDeps> {
    return { sdk: await loadSdk(), fetch: deps.guarded(url, auth.allowPrivate), now: () => clock.now() }
  }

  function needed(server: AuthServer, user: string | null, problem: string | null): ServerError {
    const who = user === null ? 'an operator' : 'the user'
    const why = `${whoIs(server.name)} needs a sign-in${problem === null ? '' : `: ${problem}`}`
    opened?.listener.needed(server, user, why)
    return signInNeeded(
      server.name,
      `${why.replace(/\.$/, '')}. Its tools are missing until ${who} signs in, on the agent’s page in the console. Nothing was called.`,
    )
  }

  /** The record with tokens that `isGood` takes, after a refresh if need be. Null: somebody has to sign in. */
  async function renewed(
    server: AuthServer,
    key: string,
    isGood: (record: SignInRecord) => boolean,
    isRefused: boolean,
  ): Promise<SignInRecord | null> {
    for (;;) {
      const found = await read(key)
      if (found === null || found.record.tokens === null || found.record.authority === null) return null
      const { record, version } = found
      if (isGood(record)) return record
      if (record.refreshing_until !== null && record.refreshing_until > clock.now()) {
        await sleep(clock, LOOK_MS)
        continue
      }
      const { tokens, authority } = found.record
      if (tokens === null || authority === null) return null
      const hopeless = isRefused && record.renewed_at !== null && clock.now() - record.renewed_at < PATIENCE_MS
      if (tokens.refresh_token === undefined || hopeless) {
        const problem = hopeless ? 'the server refuses its tokens, also new ones.' : 'the last sign-in is over.'
        if (await write(over(record, problem), version)) return null
        continue
      }
      if (!(await write({ ...record, refreshing_until: clock.now() + REFRESH_MS }, version))) continue
      const next = await refresh(server, record, isRefused)
      // Somebody may have signed in or out meanwhile. Then that counts.
      await update(key, (now) => (now.tokens?.refresh_token === tokens.refresh_token ? next.record : null))
      if (next.error !== null) throw next.error
    }
  }

  /** What the record becomes, and the error if the authorization server gave no answer that decides. */
  async function refresh(
    server: AuthServer,
    record: SignInRecord,
    isRefused: boolean,
  ): Promise<{ record: SignInRecord; error: ServerError | null }> {
    const { authority, tokens } = record
    if (authority === null || tokens === null) throw new Error('a sign-in without tokens is not renewed')
    const from = await oauth(server)
    try {
      const next = await refreshTokens(from, server.auth, authority, tokens)
      const renewed_at = isRefused ? clock.now() : record.renewed_at
      return { record: { ...record, tokens: next, renewed_at, refreshing_until: null }, error: null }
    } catch (error) {
      log.warn('The sign-in to an MCP server could not be renewed.', { mcp_server: server.name, error: said(error) })
      if (isVoid(from.sdk, error)) {
        return { record: over(record, `${authority.server.issuer} does not renew the last sign-in.`), error: null }
      }
      const text = `${authority.server.issuer}, where ${whoIs(server.name).replace('The', 'the')} has its sign-in, does not renew it now. Try again later.`
      return { record: { ...record, refreshing_until: null }, error: new ServerError('tool_failed', text) }
    }
  }

  const over = (record: SignInRecord, problem: string): SignInRecord => ({
    ...record,
    tokens: null,
    refreshing_until: null,
    problem,
  })

  /** Several callers in this process share one renewal. */
  function shared(key: string, work: () => Promise<SignInRecord | null>): Promise<SignInRecord | null> {
    const running = renewing.get(key) ?? work().finally(() => renewing.delete(key))
    renewing.set(key, running)
    return running
  }

  const isDue = ({ tokens }: SignInRecord): boolean =>
    tokens !== null && tokens.renew_at !== null && tokens.renew_at <= clock.now()

  const hasEnded = ({ tokens }: SignInRecord): boolean =>
    tokens !== null && tokens.expires_at !== null && tokens.expires_at <= clock.now()

  async function tokenOf(server: AuthServer, user: string | null): Promise<string> {
    const key = keyOf(server, user)
    const found = (await read(key))?.record ?? null
    let record = found
    // A token that cannot be renewed is used to its end.
    const isOver = found?.tokens?.refresh_token === undefined ? hasEnded : isDue
    if (found !== null && isOver(found)) {
      try {
        record = await shared(key, () => renewed(server, key, (one) => !isDue(one), false))
      } catch (error) {
        if (hasEnded(found)) throw error
      }
    }
    if (record?.tokens) return record.tokens.access_token
    throw needed(server, user, record?.problem ?? (await read(key))?.record.problem ?? null)
  }

  /** What the server says to a request without a token: where to sign in, and for what. */
  async function challengeOf({ url, headers }: AuthServer): Promise<Response | null> {
    const signal = AbortSignal.timeout(MOST_PROBE_MS)
    try {
      const response = await deps.fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
        signal,
      })
      await response.body?.cancel()
      return response.status === 401 ? response : null
    } catch {
      // The next request says better what is wrong.
      return null
    }
  }

  const redirectOf = () => `${parts().base}${CALLBACK_PATH}`

  /** The address of our client document, where authorization servers can read it. */
  const documentUrl = () => (parts().base.startsWith('https:') ? `${parts().base}${DOCUMENT_PATH}` : null)

  const self = {
    servers,
    open(parts: Opened): void {
      opened = parts
    },

    of: (server: AuthServer, user: string | null): SignIn => ({
      token: () => tokenOf(server, user),
      async refused(token) {
        const key = keyOf(server, user)
        const record = await shared(key, () =>
          renewed(server, key, ({ tokens }) => tokens !== null && tokens.access_token !== token, true),
        )
        if (record === null) throw needed(server, user, (await read(key))?.record.problem ?? null)
      },
      async lacks(scope) {
        const { sdk } = await oauth(server)
        await update(keyOf(server, user), (was) => ({
          ...was,
          lacks: sdk.computeScopeUnion(was.lacks ?? undefined, scope) ?? null,
        }))
        return needed(server, user, `a call needs more rights (${scope}).`)
      },
      async since() {
        const found = await read(keyOf(server, user))
        return found === null || found.record.tokens === null ? null : found.record.signed_in_at
      },
    }),

    async state(server: AuthServer, user: string | null): Promise<SignInState> {
      const record = (await read(keyOf(server, user)))?.record
      const isIn = record !== undefined && record.tokens !== null
      return {
        issuer: isIn ? (record.authority?.server.issuer ?? null) : null,
        scope: isIn ? (record.tokens?.scope ?? null) : null,
        at: isIn ? record.signed_in_at : null,
        by: isIn ? record.by : null,
        lacks: record?.lacks ?? null,
        problem: record?.problem ?? null,
      }
    },

    /** The address to open in a browser. Throws a ServerError that says what is wrong with the server or its settings. */
    async begin({ server, user, by, browser }: BeginOptions): Promise<{ link: string }> {
      const { store, base } = parts()
      if (base === '') {
        throw new ServerError(
          'config_invalid',
          'Nobody can come back here: set channels.public_url to the address of this server.',
        )
      }
      const state = randomBytes(32).toString('base64url')
      const before = (await read(keyOf(server, user)))?.record
      const from = await oauth(server)
      const moreScope = before?.lacks ? (from.sdk.computeScopeUnion(before.tokens?.scope, before.lacks) ?? null) : null
      const { link, begun } = await beginSignIn(from, {
        url: server.url,
        auth: server.auth,
        challenge: await challengeOf(server),
        moreScope,
        redirect: redirectOf(),
        document: documentUrl(),
        state,
        before: before?.problem === null ? before.authority : null,
      }).catch((error: unknown) => {
        if (!(error instanceof ServerError))
          log.warn('A sign-in to an MCP server could not be begun.', { error: said(error) })
        const why = error instanceof ServerError ? error.message : 'It describes itself in a way that cannot be used.'
        throw new ServerError('tool_failed', `${whoIs(server.name)} cannot be signed in to. ${why}`, { cause: error })
      })
      const value = {
        ...begun,
        server: server.name,
        url: server.url,
        user,
        by,
        browser: browser === null ? null : sha256(browser),
      }
      const expiresAt = clock.now() + BEGUN_MS
      await store.put({ kind: BEGUN, key: sha256(state), value: JSON.stringify(value), version: 0, expiresAt })
      return { link }
    },

    /** What the browser brings back. Throws a ServerError in words for the person. */
    async end(
      { state, code, iss, error }: Record<'state' | 'code' | 'iss' | 'error', string | null>,
      browser: string | null,
    ): Promise<{ server: AuthServer; by: string; user: string | null }> {
      const taken = state === null ? null : await parts().store.take(BEGUN, sha256(state))
      if (taken === null) {
        throw new ServerError(
          'code_invalid',
          'This sign-in is over: it was used already, or took longer than 10 minutes. Begin it again.',
        )
      }
      const begun = StateSchema.parse(JSON.parse(taken.value))
      if (begun.browser !== null && !isSame(begun.browser, sha256(browser ?? ''))) {
        throw new ServerError('forbidden', 'This sign-in was begun in another browser. Begin it again in this one.')
      }
      const { user, by, authority } = begun
      const server = servers.find(({ name, url }) => name === begun.server && url === begun.url)
      if (server === undefined)
        throw new ServerError('conflict', `The settings no longer name the MCP server ${JSON.stringify(begun.server)}.`)
      const key = keyOf(server, user)
      const entry = {
        key,
        server: server.name,
        url: server.url,
        user,
        by,
        signed_in_at: clock.now(),
        refreshing_until: null,
        renewed_at: null,
      }
      const from = await oauth(server)
      try {
        checkIssuer(from.sdk, authority, iss)
        if (code === null) throw new ServerError('tool_failed', `${authority.server.issuer} said no: ${word(error)}.`)
        const tokens = await endSignIn(from, server.auth, begun, { code, iss })
        await write({ ...entry, authority, tokens, lacks: null, problem: null }, null)
      } catch (cause) {
        const why =
          cause instanceof ServerError ? cause.message : `${authority.server.issuer} did not accept the sign-in.`
        log.warn('A sign-in to an MCP server failed.', { mcp_server: server.name, by, error: said(cause) })
        await noteProblem({ ...entry, authority: null, tokens: null, lacks: null, problem: why })
        throw new ServerError(
          'tool_failed',
          `The sign-in to the MCP server ${JSON.stringify(server.name)} failed. ${why}`,
          { cause },
        )
      }
      log.info('Signed in to an MCP server.', { mcp_server: server.name, by, issuer: authority.server.issuer })
      parts().listener.done(server, user)
      return { server, by, user }
    },

    /** Forgets the tokens. False: nobody was signed in. */
    async out(server: AuthServer, user: string | null): Promise<boolean> {
      const taken = await parts().store.take(SIGN_IN, keyOf(server, user))
      return taken !== null
    },

    /** Our client document; null where nobody outside could read it. */
    document() {
      const url = documentUrl()
      return url === null ? null : { client_id: url, ...clientMetadata([redirectOf()]) }
    },
  }
  return self

  /** A try that failed takes nothing from whoever is signed in. */
  async function noteProblem(record: SignInRecord): Promise<void> {
    if (await write(record, 0)) return
    await update(record.key, (was) => ({ ...was, problem: record.problem }))
  }
}

const OwnedSchema = RecordSchema.pick({ server: true, url: true, user: true })

/**
 * Forgets the sign-ins of a user, also to servers that the settings no longer name, and those that they have only begun. Returns where
 * they were signed in.
 */
export async function forgetSignIns(store: ListedSignIns, user: string): Promise<{ server: string; url: string }[]> {
  const forgotten: { server: string; url: string }[] = []
  for (const kind of [BEGUN, SIGN_IN]) {
    for (const { key, value } of await store.list(kind)) {
      const { data } = OwnedSchema.safeParse(JSON.parse(value))
      if (data?.user === user && (await store.take(kind, key)) !== null && kind === SIGN_IN) forgotten.push(data)
    }
  }
  return forgotten
}

const isSame = (a: string, b: string): boolean => timingSafeEqual(Buffer.from(a), Buffer.from(b))

/** Of a stranger's word only what an OAuth error code may be. */
const word = (text: string | null): string =>
  text !== null && /^[\w-]{1,60}$/.test(text) ? text : 'it did not say why'

/** For the log: never what a stranger wrote, which may repeat a token. */
const said = (error: unknown): string =>
  error instanceof ServerError ? error.message : error instanceof Error ? error.name : 'unknown'
