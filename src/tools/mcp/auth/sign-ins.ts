// Who is signed in to which MCP server, and how a person signs in. `kept-sign-ins.ts` keeps it, `renewals.ts` renews the tokens.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { FetchLike } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Logger } from '../../../domain/logger.ts'
import { sha256 } from '../../../json/digest.ts'
import { whoIs } from '../connection/mcp-failure.ts'
import { loadSdk } from '../connection/sdk.ts'
import { BEGUN, createKeptSignIns, SIGN_IN, type SignInRecord, type SignInStore } from './kept-sign-ins.ts'
import { BegunSchema, beginSignIn, checkIssuer, clientMetadata, endSignIn, type OAuthDeps } from './oauth.ts'
import { createRenewals, said } from './renewals.ts'
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

export const CALLBACK_PATH = '/sign-ins/callback'
export const DOCUMENT_PATH = '/sign-ins/client.json'

/** A person finds their password meanwhile. */
const BEGUN_MS = 10 * 60_000
const MOST_PROBE_MS = 15_000

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

  function parts(): Opened {
    if (opened === null) throw new ServerError('not_ready', 'The server is still starting.')
    return opened
  }

  const kept = createKeptSignIns(() => parts().store, log)
  const { read, write, update } = kept

  const keyOf = (server: AuthServer, user: string | null) => sha256(JSON.stringify([server.name, server.url, user]))

  async function oauth({ url, auth }: AuthServer): Promise<OAuthDeps> {
    return { sdk: await loadSdk(), fetch: deps.guarded(url, auth.allowPrivate), now: () => clock.now() }
  }

  const { renew } = createRenewals({ kept, oauth, clock, log })

  function needed(server: AuthServer, user: string | null, problem: string | null): ServerError {
    const who = user === null ? 'an operator' : 'the user'
    const why = `${whoIs(server.name)} needs a sign-in${problem === null ? '' : `: ${problem}`}`
    opened?.listener.needed(server, user, why)
    return signInNeeded(
      server.name,
      `${why.replace(/\.$/, '')}. Its tools are missing until ${who} signs in, on the agent’s page in the console. Nothing was called.`,
    )
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
        record = await renew(server, key, (one) => !isDue(one), false)
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
        const isNew = ({ tokens }: SignInRecord) => tokens !== null && tokens.access_token !== token
        const record = await renew(server, key, isNew, true)
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

const isSame = (a: string, b: string): boolean => timingSafeEqual(Buffer.from(a), Buffer.from(b))

/** Of a stranger's word only what an OAuth error code may be. */
const word = (text: string | null): string =>
  text !== null && /^[\w-]{1,60}$/.test(text) ? text : 'it did not say why'
