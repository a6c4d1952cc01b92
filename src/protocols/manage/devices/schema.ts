import { z } from 'zod'
import { USER_NAME, USER_NAME_TEXT } from '../../../domain/user-name.ts'
import { AttestationSchema } from '../../../http/auth/console/web-authn.ts'
import { DecisionSchema } from '../approvals/decision-schema.ts'

const time = z.iso.datetime()
const label = z
  .string()
  .regex(/^[^\p{C}]{0,100}$/u, 'Send at most 100 printable characters.')
  .exactOptional()

export const SignInSchema = z.strictObject({
  code: z
    .string()
    .max(200)
    .exactOptional()
    .describe('From the line that the start prints, or from another device. Left out: send the operator’s token.'),
  label: label.describe('Your name for this browser.'),
  keep: z.boolean().exactOptional().describe('Stay signed in for 30 days without use, not only for 12 hours.'),
})

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
  .meta({ id: 'Device' })

export const SignedInSchema = z.strictObject({
  token: z.string().describe('A console token. It is never shown again.'),
  user: z.string(),
  device: DeviceSchema,
})

/** Who or what said who the caller is. */
const signedInBy = ['token', 'device', 'oidc', 'proxy'] as const

export const WhoSchema = z
  .strictObject({
    user: z.string().nullable().describe('null: nobody is signed in.'),
    role: z.enum(['public', 'user', 'operator']).describe('What they may do: nothing, talk, or decide too.'),
    signed_in_by: z.enum(signedInBy).nullable(),
  })
  .meta({ id: 'Who' })

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
  .meta({ id: 'Me' })

export const NewCodeSchema = z.strictObject({
  user: z
    .string()
    .regex(USER_NAME, `Send ${USER_NAME_TEXT}.`)
    .exactOptional()
    .describe(
      'Who signs in with it. Default: you. Somebody whom an identity provider signs in uses it to add a first passkey.',
    ),
})

export const CodeSchema = z.strictObject({
  code: z.string(),
  url: z.string().describe('Opens the console and signs in.'),
  expires_at: time,
})

export const PasskeySchema = z
  .strictObject({
    passkey_id: z.string(),
    user: z.string(),
    label: z.string(),
    created_at: time,
    last_used_at: time.nullable(),
  })
  .meta({ id: 'Passkey' })

export const PasskeysSchema = z.strictObject({
  passkeys: z.array(PasskeySchema),
  possible: z.boolean().describe('Browsers have passkeys for the address that was asked.'),
  why_not: z.string().nullable(),
})

const options = z.record(z.string(), z.unknown())

export const ChallengeSchema = z
  .strictObject({
    challenge_id: z.string().describe('Valid once, for two minutes.'),
    options: options.describe('Of WebAuthn, as JSON.'),
  })
  .meta({ id: 'PasskeyChallenge' })

export const NothingSchema = z.strictObject({})

export const NewPasskeySchema = z.strictObject({
  challenge_id: z.string().max(64),
  label: label.describe('Your name for this passkey.'),
  response: AttestationSchema.describe('What `navigator.credentials.create` gave, as JSON.'),
  code: z
    .string()
    .max(200)
    .exactOptional()
    .describe('For your first passkey, in place of a proof: a code that somebody with a passkey has made for you.'),
})

export const NewChallengeSchema = z.strictObject({
  for: z.discriminatedUnion('kind', [
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
  ]),
})
