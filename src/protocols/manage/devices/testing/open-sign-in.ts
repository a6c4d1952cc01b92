// The routes of the console's sign-in on a real server, with a clock that can leap and browsers in software.

import { createIds } from '../../../../domain/ids.ts'
import { silentLogger } from '../../../../domain/logger.ts'
import { plainProgram } from '../../../../domain/settings/program-words.ts'
import type { AuditRecord } from '../../../../domain/supervision/audit.ts'
import { testOperator } from '../../../../domain/testing/test-operator.ts'
import { createChallenges } from '../../../../http/auth/console/challenges.ts'
import { createCodes } from '../../../../http/auth/console/codes.ts'
import { openDevices } from '../../../../http/auth/console/devices.ts'
import { createPasskeys } from '../../../../http/auth/console/passkeys.ts'
import { createProofs } from '../../../../http/auth/console/proofs.ts'
import { proofText } from '../../../../http/auth/console/testing/open-proofs.ts'
import {
  createSoftwareAuthenticator,
  type SoftwareAuthenticator,
} from '../../../../http/auth/console/testing/software-authenticator.ts'
import { createProxyAuth } from '../../../../http/auth/identity/proxy-auth.ts'
import type { Token } from '../../../../http/auth/tokens/token.ts'
import {
  createManualClock,
  eveToken,
  type ManualClock,
  operatorToken,
  startServer,
  userToken,
} from '../../../../http/testing/server-fixture.ts'
import { createOwnChanges } from '../../../../replicas/replica.ts'
import { createSharedChanges } from '../../../../replicas/shared-changes.ts'
import { ownCounts } from '../../../../replicas/shared-counts.ts'
import { createLocalShared } from '../../../../store/local-shared.ts'
import type { Shared } from '../../../../store/ports/shared.ts'
import { configuredOperators } from '../../../../supervision/sessions/may-command.ts'
import { createDeviceRoutes } from '../routes.ts'

type Headers = Record<string, string>

/** `replica`: what it shares with others. Left out: it is the only one. */
export async function openSignIn(publicUrl: string | null = null, replica?: { clock: ManualClock; shared: Shared }) {
  const clock = replica?.clock ?? createManualClock()
  const ids = createIds(clock.now)
  const trail: AuditRecord[] = []
  /** The valid tokens. A test that revokes one puts another array here. */
  const held: { tokens: readonly Token[] } = { tokens: [operatorToken, eveToken, userToken] }
  const named = [testOperator({ name: 'local_user', local: true, admin: true }), testOperator({ name: 'eve' })]
  const operatorGroups = [{ group: 'sre', admin: false }]
  const operators = configuredOperators(named, [], operatorGroups)
  const shared = replica?.shared ?? createLocalShared(clock)
  const changes =
    replica === undefined
      ? createOwnChanges()
      : createSharedChanges({ shared, owner: ids.uuid(), clock, logger: silentLogger })
  const codes = createCodes(shared, clock)
  const passkeys = createPasskeys(shared)
  const devices = await openDevices({ shared, changes, clock, ids, log: silentLogger })
  const base = publicUrl ?? 'http://localhost:8000'
  const proofs = createProofs({
    ...{ passkeys, challenges: createChallenges(shared, clock, ids), clock, ids, log: silentLogger },
    personOf: operators.personOf,
    link: (id) => `${base}/console/${id === null ? 'settings' : `inbox/${id}`}`,
  })
  const routes = createDeviceRoutes({
    ...{ codes, devices, passkeys, proofs, operators, base, publicUrl, clock, counts: ownCounts },
    tokens: { current: () => held.tokens, refresh: async () => {} },
    named: ['eve'],
    audit: async (record) => trail.push(record),
    about: { version: '1.2.3', program: plainProgram, agent: 'tester', operators: ['local_user', 'eve'] },
  })
  const server = await startServer({
    routes,
    clock,
    auth: {
      tokens: () => held.tokens,
      devices,
      lookAgain: devices.refresh,
      isFresh: devices.isFresh,
    },
    proxyAuth: createProxyAuth(
      {
        name: 'corp',
        trusted: ['127.0.0.1', '::1'],
        headers: { user: 'x-forwarded-user', groups: 'x-forwarded-groups', email: 'x-forwarded-email' },
        roles: { user: null, operator: [], admin: [] },
      },
      { operators: named, operatorGroups },
    ),
    guard: { publicUrl, allowedHosts: ['agents.example.com'] },
  })
  const { port } = server
  const origin = `http://localhost:${port}`
  const place = { origin, rpId: 'localhost' }

  async function call(method: string, path: string, content: unknown, { token, ...headers }: Headers = {}) {
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: {
        ...(content === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: JSON.stringify(content) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
  const post = (path: string, content: unknown, headers: Headers = {}) => call('POST', path, content, headers)
  const get = (path: string, headers: Headers = {}) => call('GET', path, undefined, headers)
  const remove = (path: string, headers: Headers = {}) => call('DELETE', path, undefined, headers)
  /** A browser that is signed in. */
  const signedIn = async (user = 'local_user', isVouched = false): Promise<string> =>
    (await post('/sign-in', { code: (await codes.make({ user, isVouched })).text })).body.token
  /** Adds a passkey with this token. */
  async function addPasskey(token: string, headers: Headers = {}): Promise<{ key: SoftwareAuthenticator; id: string }> {
    const key = createSoftwareAuthenticator()
    const { body } = await post('/passkeys/options', {}, { token })
    const response = key.create(body.options, place)
    const made = await post('/passkeys', { challenge_id: body.challenge_id, response }, { token, ...headers })
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return { key, id: made.body.passkey_id }
  }
  /** The header with a proof for this purpose. */
  async function proofFor(token: string, purpose: object, key: SoftwareAuthenticator): Promise<Headers> {
    const { status, body } = await post('/passkeys/challenges', { for: purpose }, { token })
    if (status !== 200) throw new Error(JSON.stringify(body))
    return { 'X-Passkey': proofText(body.challenge_id, key.get(body.options, place)) }
  }

  return {
    ...{ clock, codes, devices, held, passkeys, trail, origin, place, port, post, get, remove },
    ...{ signedIn, addPasskey, proofFor },
    async [Symbol.asyncDispose]() {
      changes.close()
      await server[Symbol.asyncDispose]()
    },
  }
}
