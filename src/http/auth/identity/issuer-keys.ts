// The public keys of one issuer. They are fetched when they are first needed, and again when a token names a key that is not among them.
// While the issuer is away, the keys that were fetched last go on for a day.

import type { JSONWebKeySet } from 'jose'
import { z } from 'zod'
import { abortAfter } from '../../../domain/abort.ts'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Logger } from '../../../domain/logger.ts'
import type { IssuerSettings } from '../../../domain/settings/identity-settings.ts'

export interface IssuerKeys {
  /** The keys as far as they are known. Throws `identity_unavailable` if there are none. */
  current(): Promise<JSONWebKeySet>
  /** A token names a key that is not among `known`. The keys after another look; null if it is too soon for one. */
  again(known: JSONWebKeySet): Promise<JSONWebKeySet | null>
}

interface IssuerKeysDeps {
  issuer: Pick<IssuerSettings, 'name' | 'issuer' | 'jwksUri'>
  /** Takes an address that the operator has written, or that the issuer's own document names. */
  fetch: typeof fetch
  clock: Clock
  log: Logger
}

/** After this time the keys are fetched again, in the background. */
const FRESH_MS = 10 * 60_000
/** As long as this they are used while the issuer does not answer. */
const USABLE_MS = 24 * 60 * 60_000
/** Between two tries. A stranger with made-up tokens cannot make us ask more often. */
const COOLDOWN_MS = 30_000
const FETCH_MS = 5_000
const MAX_BYTES = 512 * 1024
const MOST_KEYS = 100

/** RSA with fewer bits can be broken, and the library does not take it. */
const MIN_RSA_BYTES = 2_048 / 8

/** Only public keys that can check a signature. A symmetric key in such a list would let everybody sign. */
const KeysSchema = z.object({
  keys: z
    .array(z.record(z.string(), z.unknown()))
    .max(MOST_KEYS)
    .transform((keys) =>
      keys.flatMap((key) => {
        const isUsable = key.kty === 'RSA' ? isLong(key.n) : key.kty === 'EC' || key.kty === 'OKP'
        return isUsable && key.use !== 'enc' ? [{ ...key, kty: String(key.kty) }] : []
      }),
    ),
})
function isLong(modulus: unknown): boolean {
  return typeof modulus === 'string' && Buffer.from(modulus, 'base64url').length >= MIN_RSA_BYTES
}
const DiscoverySchema = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) })

export function createIssuerKeys({ issuer, fetch, clock, log }: IssuerKeysDeps): IssuerKeys {
  let keys: JSONWebKeySet | null = null
  let fetchedAt = Number.NEGATIVE_INFINITY
  let triedAt = Number.NEGATIVE_INFINITY
  let loading: Promise<void> | null = null

  async function load(): Promise<void> {
    try {
      const address = issuer.jwksUri ?? (await discover())
      keys = KeysSchema.parse(await getJson(address))
      fetchedAt = clock.mono()
    } catch (error) {
      log.warn('the keys of an identity provider could not be fetched', { provider: issuer.name, error })
    }
  }

  async function discover(): Promise<string> {
    const address = `${issuer.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const found = DiscoverySchema.parse(await getJson(address))
    // Otherwise a document of somebody else could say where the keys are.
    if (found.issuer !== issuer.issuer)
      throw new Error(`${address} is of another issuer: ${found.issuer.slice(0, 200)}`)
    const [here, there] = [new URL(issuer.issuer), new URL(found.jwks_uri)]
    if (here.protocol === 'https:' && there.protocol !== 'https:') throw new Error('its keys are not behind https')
    return found.jwks_uri
  }

  async function getJson(address: string): Promise<unknown> {
    using late = abortAfter(clock, FETCH_MS, { reason: () => new Error('it took longer than 5 s') })
    const headers = { accept: 'application/json' }
    const response = await fetch(address, { headers, redirect: 'error', signal: late.signal })
    if (response.status !== 200) throw new Error(`${address} answered ${response.status}`)
    return JSON.parse(await readText(response, address))
  }

  const mayTry = (): boolean => clock.mono() - triedAt >= COOLDOWN_MS
  const age = (): number => clock.mono() - fetchedAt

  /** All who wait share one try. */
  function tryNow(): Promise<void> {
    triedAt = clock.mono()
    loading ??= load().finally(() => {
      loading = null
    })
    return loading
  }

  return {
    async current() {
      if (keys === null || age() >= USABLE_MS) {
        if (loading !== null || mayTry()) await (loading ?? tryNow())
      } else if (age() >= FRESH_MS && loading === null && mayTry()) void tryNow()
      if (keys !== null && age() < USABLE_MS) return keys
      throw new ServerError(
        'identity_unavailable',
        'The keys of your identity provider cannot be fetched now, so your token cannot be checked. Try again soon.',
        { details: { retry_after_seconds: COOLDOWN_MS / 1000 } },
      )
    },
    async again(known) {
      if (loading === null && keys === known && !mayTry()) return null
      if (keys === known) await (loading ?? tryNow())
      return keys === known ? null : keys
    },
  }
}

async function readText(response: Response, address: string): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new Error(`${address} sent more than ${MAX_BYTES} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
