// What the routes of devices and passkeys answer, and what a proof with a passkey is for.

import { z } from 'zod'
import { USER_NAME, USER_NAME_TEXT } from '../../../domain/supervision/user-name.ts'
import { AttestationSchema } from '../../../http/auth/console/web-authn.ts'
import { DecisionSchema } from '../approvals/schema.ts'

const time = z.iso.datetime()

const exampleDevice = {
  device_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
  user: 'operator',
  label: 'Firefox on the laptop',
  created_at: '2026-11-15T09:00:00.000Z',
  last_used_at: '2026-11-15T09:00:00.000Z',
  expires_at: '2026-11-15T21:00:00.000Z',
  kept: false,
  current: true,
}

export const DeviceSchema = z
  .strictObject({
    device_id: z.string(),
    user: z.string(),
    label: z.string(),
    created_at: time,
    last_used_at: time,
    expires_at: time.describe('When it is signed out if nobody uses it.'),
    kept: z.boolean(),
    current: z.boolean().describe('It is the one that asks.'),
  })
  .meta({ id: 'Device', example: exampleDevice })
export type Device = z.output<typeof DeviceSchema>

export const SignedInSchema = z
  .strictObject({
    token: z.string().describe('A console token. It is never shown again.'),
    user: z.string(),
    device: DeviceSchema,
  })
  .meta({
    example: {
      token: 'qd_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCde',
      user: 'operator',
      device: exampleDevice,
    },
  })
export type SignedIn = z.output<typeof SignedInSchema>

/** Who or what said who the caller is. */
const signedInBy = ['token', 'device', 'oidc', 'proxy'] as const

export const WhoSchema = z
  .strictObject({
    user: z.string().nullable().describe('null: nobody is signed in.'),
    role: z
      .enum(['public', 'user', 'operator'])
      .describe('What they may do: nothing, talk, or decide too. Where talking needs no token, everybody may talk.'),
    signed_in_by: z.enum(signedInBy).nullable(),
    passkey: z
      .boolean()
      .describe('Nobody is signed in, and somebody has a passkey for this address: POST /sign-in/challenges.'),
  })
  .meta({ id: 'Who', example: { user: 'corp:ada', role: 'operator', signed_in_by: 'proxy', passkey: false } })
/** Whether somebody is signed in, and by what. */
export type Who = z.output<typeof WhoSchema>

export const MeSchema = z
  .strictObject({
    user: z.string(),
    owner: z.string().describe('Whose sessions this caller begins.'),
    role: z.literal('operator'),
    admin: z.boolean().describe('May decide for every owner.'),
    signed_in_by: z
      .enum(signedInBy)
      .describe(
        'A token or a device of this server, a token of an identity provider, or a proxy that has signed you in.',
      ),
    groups: z.array(z.string()).describe('Groups that the identity provider or the proxy puts you into.'),
    email: z.string().nullable().describe('As the identity provider or the proxy says.'),
    device: DeviceSchema.nullable().describe('null: the token is not of a device.'),
    passkeys: z.strictObject({
      registered: z.int().min(0).describe('Of all people. From one on, some things need a proof.'),
      mine: z.int().min(0),
      possible: z.boolean().describe('Browsers have passkeys for the address that was asked.'),
      why_not: z.string().nullable(),
    }),
    version: z.string(),
    program: z
      .strictObject({
        name: z.string(),
        data_dir_flag: z
          .string()
          .describe('Leads a command to this server, with a space before it. Empty: it finds the server without.'),
      })
      .describe('How to type the program where the server was started.'),
    agent: z.string().nullable().describe('The default agent.'),
    operators: z.array(z.string()),
  })
  .meta({
    id: 'Me',
    example: {
      user: 'operator',
      owner: 'local_user',
      role: 'operator',
      admin: true,
      signed_in_by: 'device',
      groups: [],
      email: null,
      device: exampleDevice,
      passkeys: { registered: 1, mine: 1, possible: true, why_not: null },
      version: '1.0.0',
      program: { name: 'npx quarterdeck', data_dir_flag: ' --data-dir data' },
      agent: 'assistant',
      operators: ['local_user'],
    },
  })
export type Me = z.output<typeof MeSchema>

export const CodeSchema = z
  .strictObject({
    code: z.string(),
    url: z.string().describe('Opens the console and signs in.'),
    expires_at: time,
  })
  .meta({
    example: {
      code: 'nQ2cSgm3vXrVlxk3sGv1Fw',
      url: 'http://localhost:8000/console#code=nQ2cSgm3vXrVlxk3sGv1Fw',
      expires_at: '2026-11-15T09:05:00.000Z',
    },
  })
/** A code for a new device. */
export type Code = z.output<typeof CodeSchema>

export const PasskeySchema = z
  .strictObject({
    passkey_id: z.string(),
    user: z.string(),
    label: z.string(),
    created_at: time,
    last_used_at: time.nullable(),
  })
  .meta({
    id: 'Passkey',
    example: {
      passkey_id: '0192f3a1-7b2c-7def-8abc-0123456789ac',
      user: 'operator',
      label: 'Laptop',
      created_at: '2026-11-15T09:00:00.000Z',
      last_used_at: null,
    },
  })
export type Passkey = z.output<typeof PasskeySchema>

export const PasskeysSchema = z
  .strictObject({
    passkeys: z.array(PasskeySchema),
    possible: z.boolean().describe('Browsers have passkeys for the address that was asked.'),
    why_not: z.string().nullable(),
  })
  .meta({ example: { passkeys: [PasskeySchema.meta()?.example], possible: true, why_not: null } })
export type PasskeyList = z.output<typeof PasskeysSchema>

const options = z.record(z.string(), z.unknown())

export const ChallengeSchema = z
  .strictObject({
    challenge_id: z.string().describe('Valid once, for two minutes; for signing in with a passkey alone, for five.'),
    options: options.describe('Of WebAuthn, as JSON.'),
  })
  .meta({
    id: 'PasskeyChallenge',
    example: {
      challenge_id: '0192f3a1-7b2c-7def-8abc-0123456789ad',
      options: { challenge: 'q1pG8bU2d6g', rpId: 'localhost', userVerification: 'required', allowCredentials: [] },
    },
  })
/** `options` are for `PublicKeyCredential.parseRequestOptionsFromJSON`, or `parseCreationOptionsFromJSON` for a new passkey. */
export type PasskeyChallenge = z.output<typeof ChallengeSchema>

export const ProofPurposeSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('decision'),
    approval_id: z.string().max(64),
    digest: z.string().max(200).describe('Of what was shown.'),
    decision: z.enum(['approve', 'respond']),
    ...DecisionSchema.pick({ arguments: true, content: true, force: true, grant: true, remember: true, result: true })
      .shape,
  }),
  z.strictObject({ kind: z.literal('device_code') }),
  z.strictObject({ kind: z.literal('passkey') }),
  z.strictObject({ kind: z.literal('token') }),
])
/** What a proof is for. It counts for nothing else. */
export type ProofPurpose = z.output<typeof ProofPurposeSchema>

// What the routes of devices and passkeys take.

const label = z
  .string()
  .regex(/^[^\p{C}]{0,100}$/u, 'Send at most 100 printable characters.')
  .exactOptional()

const code = z.string().max(200).exactOptional()

export const SignInSchema = z.strictObject({
  code: code.describe(
    'From the line that the start prints, or from another device. Left out: send the operator’s token, or a proof alone.',
  ),
  label: label.describe('Your name for this browser.'),
  keep: z.boolean().exactOptional().describe('Stay signed in for 30 days without use, not only for 12 hours.'),
})

export const NewCodeSchema = z.strictObject({
  user: z
    .string()
    .regex(USER_NAME, `Send ${USER_NAME_TEXT}.`)
    .exactOptional()
    .describe(
      'Who signs in with it. Default: you. Somebody whom an identity provider signs in uses it to add a first passkey.',
    ),
})

export const NewPasskeySchema = z.strictObject({
  challenge_id: z.string().max(64),
  label: label.describe('Your name for this passkey.'),
  response: AttestationSchema.describe('What `navigator.credentials.create` gave, as JSON.'),
  code: code.describe(
    'For your first passkey, in place of a proof: a code that somebody with a passkey has made for you.',
  ),
})

export const NewChallengeSchema = z.strictObject({ for: ProofPurposeSchema })
