// What the routes of devices and passkeys take.

import { z } from 'zod'
import { USER_NAME, USER_NAME_TEXT } from '../../../domain/supervision/user-name.ts'
import { AttestationSchema } from '../../../http/auth/console/web-authn.ts'
import { ProofPurposeSchema } from './schema.ts'

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

export const NewCodeSchema = z.strictObject({
  user: z
    .string()
    .regex(USER_NAME, `Send ${USER_NAME_TEXT}.`)
    .exactOptional()
    .describe(
      'Who signs in with it. Default: you. Somebody whom an identity provider signs in uses it to add a first passkey.',
    ),
})

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

export const NewChallengeSchema = z.strictObject({ for: ProofPurposeSchema })
