// Signing in to the console: one-time codes, devices and passkeys. For operators.

import { z } from 'zod'
import type { Clock } from '../../../domain/clock.ts'
import type { ProgramWords } from '../../../domain/settings/program-words.ts'
import type { Codes } from '../../../http/auth/console/codes.ts'
import type { Devices } from '../../../http/auth/console/devices.ts'
import type { Passkeys } from '../../../http/auth/console/passkeys.ts'
import type { Proofs } from '../../../http/auth/console/proofs.ts'
import type { Tokens, WriteAudit } from '../../../http/auth/tokens/tokens.ts'
import { answer, listOf } from '../../../http/describe-answer.ts'
import type { Route } from '../../../http/route.ts'
import type { SharedCounts } from '../../../replicas/shared-counts.ts'
import type { Operators } from '../../../supervision/sessions/may-command.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { NoBodySchema } from '../supervision/schema.ts'
import { createDeviceHandlers } from './device-handlers.ts'
import { createPasskeyHandlers } from './passkey-handlers.ts'
import {
  ChallengeSchema,
  CodeSchema,
  DeviceSchema,
  MeSchema,
  NewChallengeSchema,
  NewCodeSchema,
  NewPasskeySchema,
  PasskeySchema,
  PasskeysSchema,
  SignedInSchema,
  SignInSchema,
  WhoSchema,
} from './schema.ts'
import { createSignIn } from './sign-in.ts'

export interface DeviceRoutesDeps {
  codes: Codes
  devices: Devices
  passkeys: Passkeys
  proofs: Proofs
  audit: WriteAudit
  tokens: Pick<Tokens, 'current' | 'refresh'>
  operators: Operators
  /** Whom quarterdeck.yaml names as operators and no identity provider signs in. A passkey is enough for them. */
  named: readonly string[]
  /** Where people open this server in a browser, without a slash at the end. */
  base: string
  /** The same, if the settings say it. */
  publicUrl: string | null
  about: {
    version: string
    program: ProgramWords
    /** The default agent. */
    agent: string | null
    /** Names of the operators. */
    operators: readonly string[]
  }
  clock: Clock
  /** Of wrong codes. */
  counts: Pick<SharedCounts, 'add'>
}

const tag = 'Console sign-in'

const proofHeader = {
  'X-Passkey': z
    .string()
    .optional()
    .describe('Once somebody has a passkey: base64url of {"challenge_id", "response"}, a proof for exactly this.'),
}

const exampleDecision = {
  kind: 'decision',
  approval_id: '0192f3a1-7b2c-7def-8abc-0123456789ae',
  digest: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  decision: 'approve',
}

const stored = ['storage_full', 'storage_failed'] as const

export function createDeviceRoutes(deps: DeviceRoutesDeps): Route[] {
  const devices = createDeviceHandlers(deps)
  const passkeys = createPasskeyHandlers(deps)
  const { signIn, challenge } = createSignIn(deps)
  const { get, post, del } = routeHeads(null, 'operator')
  return [
    {
      ...post,
      path: '/sign-in',
      // It is for those who have no token yet. A code, the operator's token or a proof with a passkey is in the request.
      role: 'public',
      summary: 'Sign a browser in',
      describe: () => ({
        tag,
        description:
          'Gives a browser a token of its own, for a one-time code or for the operator’s token (`Authorization: Bearer`). Once somebody has a passkey, a new device needs one too: `passkey_required` then has `passkey`, the challenge to sign, or null if this person has no passkey here. A code is used up only when the device is signed in. A passkey alone is enough with a proof for `POST /sign-in/challenges`, if its person has an operator’s token without limits, a device that is signed in, or a name in the `operators` of the settings.',
        headers: proofHeader,
        body: {
          schema: SignInSchema,
          examples: {
            'with a code': { code: 'nQ2cSgm3vXrVlxk3sGv1Fw', label: 'Firefox on the laptop' },
            'with the operator’s token, or a passkey': { keep: true },
          },
        },
        responses: { 200: answer('The device is signed in.', SignedInSchema) },
        errors: [
          'invalid_request',
          'code_invalid',
          'unauthorized',
          'forbidden',
          'passkey_required',
          'origin_not_allowed',
          'rate_limited',
          ...stored,
        ],
      }),
      handle: signIn,
    },
    {
      ...post,
      path: '/sign-in/challenges',
      role: 'public',
      summary: 'Options of a sign-in',
      describe: () => ({
        tag,
        description:
          'What `navigator.credentials.get` needs to sign somebody in who has not said who they are, so it names no passkey. Send the answer to `POST /sign-in` as the header X-Passkey. `GET /sign-in` says whether it is of use.',
        body: { schema: NoBodySchema, examples: { nothing: {} } },
        responses: { 200: answer('The options.', ChallengeSchema) },
        errors: ['invalid_request', 'origin_not_allowed', 'rate_limited', ...stored],
      }),
      handle: challenge,
    },
    {
      ...get,
      path: '/sign-in',
      role: 'public',
      summary: 'Whether somebody is signed in',
      describe: () => ({
        tag,
        description:
          'For pages that do not know yet whether somebody is signed in, for example by a proxy in front of this server. It needs no token and refuses nobody.',
        responses: { 200: answer('Who asks.', WhoSchema) },
        errors: [],
      }),
      handle: devices.who,
    },
    {
      ...post,
      path: '/sign-out',
      summary: 'Sign this device out',
      describe: () => ({
        tag,
        description: 'Revokes the console token that is sent. Its open streams end within 5 seconds.',
        body: { schema: NoBodySchema, examples: { nothing: {} } },
        responses: { 204: { description: 'The device is signed out.' } },
        errors: ['invalid_request', ...stored],
      }),
      handle: devices.signOut,
    },
    {
      ...get,
      path: '/me',
      summary: 'Who you are',
      describe: () => ({
        tag,
        responses: { 200: answer('Who asks, and what this server is.', MeSchema) },
        errors: [],
      }),
      handle: devices.me,
    },
    {
      ...get,
      path: '/devices',
      summary: 'List devices',
      describe: () => ({
        tag,
        description: 'Your own, oldest first. An admin sees all.',
        responses: { 200: listOf('devices', DeviceSchema, 'The browsers that are signed in.') },
        errors: [],
      }),
      handle: devices.list,
    },
    {
      ...del,
      path: '/devices/:id',
      summary: 'Sign a device out',
      describe: () => ({
        tag,
        description: 'Its token is refused from now on, and its open streams end within 5 seconds.',
        params: { id: z.string().describe('Id of the device.') },
        responses: { 204: { description: 'The device is signed out.' } },
        errors: ['record_not_found', ...stored],
      }),
      handle: devices.revoke,
    },
    {
      ...post,
      path: '/devices/codes',
      summary: 'Make a code for a new device',
      describe: () => ({
        tag,
        description:
          'For another browser, or, by an admin, for somebody else. The code works once, for five minutes. Once somebody has a passkey it needs a proof (`{"kind": "device_code"}`), and the device that uses it needs none.',
        headers: proofHeader,
        body: { schema: NewCodeSchema, examples: { 'for me': {}, 'for Ada': { user: 'ada' } } },
        responses: { 201: answer('The code. It is never shown again.', CodeSchema) },
        errors: ['invalid_request', 'forbidden', 'passkey_required', ...stored],
      }),
      handle: devices.makeCode,
    },
    {
      ...get,
      path: '/passkeys',
      summary: 'List passkeys',
      describe: () => ({
        tag,
        description: 'Your own, oldest first. An admin sees all.',
        responses: { 200: answer('The passkeys.', PasskeysSchema) },
        errors: [],
      }),
      handle: passkeys.list,
    },
    {
      ...post,
      path: '/passkeys/options',
      summary: 'Options of a new passkey',
      describe: () => ({
        tag,
        description: 'What `navigator.credentials.create` needs for a new passkey.',
        body: { schema: NoBodySchema, examples: { nothing: {} } },
        responses: { 200: answer('The options.', ChallengeSchema) },
        errors: ['invalid_request'],
      }),
      handle: passkeys.options,
    },
    {
      ...post,
      path: '/passkeys',
      summary: 'Add a passkey',
      describe: () => ({
        tag,
        description:
          'From the first passkey on, some things need one: to approve what is critical, to allow something always, new devices, new tokens of operators, new and removed passkeys. So the second one needs a proof (`{"kind": "passkey"}`), except the first of a person on a device that was added with a code of somebody who has one, or with such a code as `code`.',
        headers: proofHeader,
        body: {
          schema: NewPasskeySchema,
          examples: {
            laptop: {
              challenge_id: '0192f3a1-7b2c-7def-8abc-0123456789ad',
              label: 'Laptop',
              response: {
                id: 'AQIDBA',
                rawId: 'AQIDBA',
                type: 'public-key',
                response: { clientDataJSON: 'e30', attestationObject: 'o2NmbXRkbm9uZQ' },
              },
            },
          },
        },
        responses: { 201: answer('The passkey.', PasskeySchema) },
        errors: ['invalid_request', 'code_invalid', 'conflict', 'limit', 'passkey_required', ...stored],
      }),
      handle: passkeys.add,
    },
    {
      ...del,
      path: '/passkeys/:id',
      summary: 'Remove a passkey',
      describe: () => ({
        tag,
        description:
          'Needs a proof (`{"kind": "passkey"}`). After the last one nothing needs a passkey any more. Somebody who has lost theirs: `quarterdeck passkeys`.',
        headers: proofHeader,
        params: { id: z.string().describe('Id of the passkey.') },
        responses: { 204: { description: 'It is removed.' } },
        errors: ['invalid_request', 'record_not_found', 'passkey_required', ...stored],
      }),
      handle: passkeys.remove,
    },
    {
      ...post,
      // It brings what the decision will bring.
      body: 'edit',
      path: '/passkeys/challenges',
      summary: 'Options of a proof',
      describe: () => ({
        tag,
        description:
          'What `navigator.credentials.get` needs for a proof. The proof counts for this one purpose, for this caller, once. For a decision, send everything that it will bring: `arguments`, `result`, `content`, `force`, `remember`, `grant`. Send it as the header X-Passkey.',
        body: {
          schema: NewChallengeSchema,
          examples: {
            'a decision': { for: exampleDecision },
            'a decision with edited arguments': {
              for: { ...exampleDecision, arguments: { to: 'ada@example.com' } },
            },
            'a new device': { for: { kind: 'device_code' } },
          },
        },
        responses: { 200: answer('The options.', ChallengeSchema) },
        errors: ['invalid_request', 'passkey_required'],
      }),
      handle: passkeys.challenge,
    },
  ]
}
