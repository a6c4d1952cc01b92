// Renews the tokens of a sign-in.
//
// A refresh token works once, and several processes may need a new token at the same moment. So whoever refreshes first writes down that
// they do (`refreshing_until`), by compare and set; the others wait for what comes of it. If that process is killed in between, nobody
// knows whether the refresh token was used. After the time has run out another process tries it once more: at worst the authorization
// server calls it void, and a person has to sign in again.

import { type Clock, sleep } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Logger } from '../../../domain/logger.ts'
import { whoIs } from '../connection/mcp-failure.ts'
import type { KeptSignIns, SignInRecord } from './kept-sign-ins.ts'
import { isVoid, type OAuthDeps, refreshTokens } from './oauth.ts'
import type { AuthServer } from './sign-in.ts'

interface RenewalsDeps {
  kept: KeptSignIns
  oauth(server: AuthServer): Promise<OAuthDeps>
  clock: Clock
  log: Logger
}

/** Longer than the request may take. */
const REFRESH_MS = 40_000
const LOOK_MS = 100
/** A token that is refused so soon after a refresh will not get better by another one. */
const PATIENCE_MS = 2 * 60_000

type SignedIn = SignInRecord & { [K in 'tokens' | 'authority']: NonNullable<SignInRecord[K]> }

export function createRenewals({ kept: { read, write, update }, oauth, clock, log }: RenewalsDeps) {
  /** Of this process: several calls at once renew a token once. */
  const renewing = new Map<string, Promise<SignInRecord | null>>()

  /** The record with tokens that `isGood` takes, after a refresh if need be. Null: somebody has to sign in. */
  async function renewed(
    server: AuthServer,
    key: string,
    isGood: (record: SignInRecord) => boolean,
    isRefused: boolean,
  ): Promise<SignInRecord | null> {
    for (;;) {
      const found = await read(key)
      if (found === null) return null
      const { record, version } = found
      const { tokens, authority } = record
      if (tokens === null || authority === null) return null
      if (isGood(record)) return record
      if (record.refreshing_until !== null && record.refreshing_until > clock.now()) {
        await sleep(clock, LOOK_MS)
        continue
      }
      const hopeless = isRefused && record.renewed_at !== null && clock.now() - record.renewed_at < PATIENCE_MS
      if (tokens.refresh_token === undefined || hopeless) {
        const problem = hopeless ? 'the server refuses its tokens, also new ones.' : 'the last sign-in is over.'
        if (await write(over(record, problem), version)) return null
        continue
      }
      if (!(await write({ ...record, refreshing_until: clock.now() + REFRESH_MS }, version))) continue
      const next = await refresh(server, { ...record, tokens, authority }, isRefused)
      // Somebody may have signed in or out meanwhile. Then that counts.
      await update(key, (now) => (now.tokens?.refresh_token === tokens.refresh_token ? next.record : null))
      if (next.error !== null) throw next.error
    }
  }

  /** What the record becomes, and the error if the authorization server gave no answer that decides. */
  async function refresh(
    server: AuthServer,
    record: SignedIn,
    isRefused: boolean,
  ): Promise<{ record: SignInRecord; error: ServerError | null }> {
    const { authority, tokens } = record
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

  return {
    /** Several callers in this process share one renewal. */
    renew(...asked: Parameters<typeof renewed>): Promise<SignInRecord | null> {
      const [, key] = asked
      const running = renewing.get(key) ?? renewed(...asked).finally(() => renewing.delete(key))
      renewing.set(key, running)
      return running
    },
  }
}

const over = (record: SignInRecord, problem: string): SignInRecord => ({
  ...record,
  tokens: null,
  refreshing_until: null,
  problem,
})

/** For the log: never what a stranger wrote, which may repeat a token. */
export const said = (error: unknown): string =>
  error instanceof ServerError ? error.message : error instanceof Error ? error.name : 'unknown'
