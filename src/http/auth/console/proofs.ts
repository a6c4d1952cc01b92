// Proofs with a passkey: what a browser is asked to sign, and whether what it sends back proves that this person wants exactly that.

import { z } from 'zod'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Ids } from '../../../domain/ids.ts'
import type { Logger } from '../../../domain/logger.ts'
import { present } from '../../../domain/present.ts'
import type { AuditRecord } from '../../../domain/supervision/audit.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import type { ProofPurpose, StepUp } from '../../../domain/supervision/step-up.ts'
import { isRemoteUser } from '../../../domain/supervision/user-name.ts'
import { canonicalJson } from '../../../json/digest.ts'
import type { Challenge, Challenges } from './challenges.ts'
import type { ConsolePlace } from './own-origin.ts'
import type { Passkey, Passkeys } from './passkeys.ts'
import {
  type Assertion,
  AssertionSchema,
  type Attestation,
  checkAssertion,
  checkAttestation,
  creationOptions,
  requestOptions,
} from './web-authn.ts'

/** base64url of JSON: `{"challenge_id", "response"}`. */
export const PROOF_HEADER = 'x-passkey'

/** What a browser is asked for. */
interface Asked<Options extends typeof requestOptions | typeof creationOptions> {
  challenge_id: string
  options: Awaited<ReturnType<Options>>
}

export interface Proofs extends StepUp {
  /** Whether anybody has a passkey, so that proofs are needed at all. */
  isOn(): Promise<boolean>
  /** Of this person, whichever of their names they come with. */
  own(user: string): Promise<readonly Passkey[]>
  /** That work at this place. Null for the user: of everybody whom a passkey alone may sign in. */
  usable(user: string | null, place: ConsolePlace): Promise<readonly Passkey[]>
  /** Null: they have no passkey for this place. For a stranger, who is null, the options name no passkey: that would say who has one. */
  ask(user: string | null, purpose: ProofPurpose, place: ConsolePlace): Promise<Asked<typeof requestOptions> | null>
  /** The passkey with which a stranger signs in. Throws `unauthorized` unless it has answered what a stranger was asked. */
  identify(proof: string): Promise<Passkey>
  /** Throws `invalid_request` where passkeys do not work. */
  askNew(user: string, place: ConsolePlace): Promise<Asked<typeof creationOptions>>
  /** It is on disk when it resolves. Throws `invalid_request`, `conflict`, `limit`, `storage_full`. */
  register(user: string, sent: { challengeId: string; label: string; response: Attestation }): Promise<Passkey>
}

interface ProofsDeps {
  passkeys: Passkeys
  challenges: Challenges
  /** The name under which a person is known, whichever of their names they come with. */
  personOf: (user: string) => string
  /** Address of the console's page about a record; of its settings for null. */
  link: (approvalId: string | null) => string
  clock: Clock
  ids: Ids
  log: Logger
}

const ProofSchema = z.object({ challenge_id: z.string().max(64), response: AssertionSchema })

export function createProofs(deps: ProofsDeps): Proofs {
  const { passkeys, challenges, personOf, clock, ids, log } = deps
  // A proof is used up when it is checked, so each request is checked once, however often it is asked.
  const checked = new WeakMap<Caller, Map<string, Promise<AuditRecord['details']>>>()

  const isOn = async (): Promise<boolean> => (await passkeys.list()).length > 0

  const own = async (user: string): Promise<Passkey[]> => {
    const person = personOf(user)
    return (await passkeys.list()).filter((one) => one.user === person)
  }

  async function check(by: Caller, purpose: ProofPurpose): Promise<AuditRecord['details']> {
    if (by.proof === undefined) throw await required(null, by, purpose)
    const { challenge_id, response } = decodeProof(by.proof)
    const challenge = await challenges.take(challenge_id)
    if (challenge === null) throw await required('It was used already, or it is older than two minutes.', by, purpose)
    if (challenge.user !== personOf(by.user) || keyOf(challenge.purpose) !== keyOf(purpose)) {
      throw await required('It was made for something else.', by, purpose)
    }
    const passkey = (await own(by.user)).find(({ credentialId }) => credentialId === response.id)
    if (passkey === undefined || passkey.rpId !== challenge.place.rpId) {
      throw await required('It is not of a passkey of yours.', by, purpose)
    }
    await verify(challenge, response, passkey).catch(async (error: unknown) => {
      if (error instanceof ServerError) throw error
      log.warn('a proof with a passkey was refused', { passkey_id: passkey.id, user: by.user, error })
      throw await required('It is not valid.', by, purpose)
    })
    return { passkey: passkey.id }
  }

  async function usable(user: string | null, { rpId, whyNot }: ConsolePlace): Promise<readonly Passkey[]> {
    if (whyNot !== null) return []
    const all = user === null ? (await passkeys.list()).filter((one) => !isRemoteUser(one.user)) : await own(user)
    return all.filter((one) => one.rpId === rpId)
  }

  async function verify(challenge: Challenge, response: Assertion, passkey: Passkey): Promise<void> {
    const counter = await checkAssertion(challenge, response, passkey)
    // Meanwhile another proof of the same passkey may have counted on, or somebody may have removed it.
    if (await passkeys.used(passkey, counter, clock.now())) return
    throw new Error('the passkey has changed meanwhile')
  }

  async function required(why: string | null, by: Caller, purpose: ProofPurpose): Promise<ServerError> {
    const approvalId = purpose.kind === 'decision' ? purpose.approvalId : null
    const url = deps.link(approvalId)
    const wrong = why === null ? '' : ` The proof that you sent does not count. ${why}`
    const still = approvalId === null ? '' : ' It is still pending.'
    const isOperator = by.role === 'operator'
    const advice = isOperator
      ? 'You have none: ask somebody who has one to add your device'
      : 'Ask an operator to do it'
    const how = isOperator && (await own(by.user)).length > 0 ? 'Do it in the console' : `${advice}, in the console`
    return new ServerError(
      'passkey_required',
      `${needs[purpose.kind]} needs a passkey.${wrong}${still} ${how}: ${url}`,
      {
        details: present({ url, approval_id: approvalId ?? undefined }),
      },
    )
  }

  return {
    isOn,
    own,
    usable,

    async require(by, purpose) {
      if (!(await isOn())) return {}
      const byPurpose = checked.get(by) ?? new Map<string, Promise<AuditRecord['details']>>()
      checked.set(by, byPurpose)
      const key = keyOf(purpose)
      const checking = byPurpose.get(key) ?? check(by, purpose)
      byPurpose.set(key, checking)
      return checking
    },

    async ask(user, purpose, place) {
      const found = await usable(user, place)
      if (found.length === 0) return null
      const challenge = await challenges.make({ user: user === null ? null : personOf(user), purpose, place })
      return { challenge_id: challenge.id, options: await requestOptions(challenge, user === null ? [] : found) }
    },

    async identify(proof) {
      const { challenge_id, response } = decodeProof(proof)
      const challenge = await challenges.take(challenge_id)
      if (challenge === null) throw notIdentified('It was used already, or it is older than five minutes. Try again.')
      const passkey = (await passkeys.list()).find(({ credentialId }) => credentialId === response.id)
      // A proof of somebody who is known is for something else.
      const isForThis = challenge.user === null && challenge.purpose.kind === 'sign_in'
      if (!isForThis || passkey === undefined || passkey.rpId !== challenge.place.rpId) throw notIdentified(UNKNOWN)
      await verify(challenge, response, passkey).catch((error: unknown) => {
        if (error instanceof ServerError) throw error
        log.warn('a sign-in with a passkey was refused', { passkey_id: passkey.id, user: passkey.user, error })
        throw notIdentified(UNKNOWN)
      })
      return passkey
    },

    async askNew(user, place) {
      if (place.whyNot !== null) throw new ServerError('invalid_request', place.whyNot)
      const challenge = await challenges.make({ user: personOf(user), purpose: { kind: 'registration' }, place })
      return { challenge_id: challenge.id, options: await creationOptions(challenge, personOf(user), await own(user)) }
    },

    async register(user, { challengeId, label, response }) {
      const challenge = await challenges.take(challengeId)
      const person = personOf(user)
      if (challenge?.purpose.kind !== 'registration' || challenge.user !== person) {
        throw notRegistered('/challenge_id', 'It was used already, is older than two minutes, or is not for this.')
      }
      const made = await checkAttestation(challenge, response).catch((error: unknown) => {
        log.warn('a new passkey was refused', { user, error })
        throw notRegistered('/response', 'It is not what a browser answers to this challenge.')
      })
      const passkey = {
        id: ids.uuid(),
        user: person,
        label,
        rpId: challenge.place.rpId,
        ...made,
        createdAt: clock.now(),
        lastUsedAt: null,
      }
      await passkeys.add(passkey)
      return passkey
    },
  }
}

const needs: Readonly<Record<ProofPurpose['kind'], string>> = {
  decision: 'This decision',
  sign_in: 'Signing in',
  device_code: 'A code for a new device',
  passkey: 'Adding or removing a passkey',
  token: 'A new token of an operator',
}

/** The same for a passkey that was removed and for a wrong signature: a stranger learns nothing about others. */
const UNKNOWN = 'It was removed, or it is not valid here. Sign in with a code or the operator’s token.'

const notIdentified = (why: string): ServerError =>
  new ServerError('unauthorized', `This passkey does not sign you in. ${why}`)

const notRegistered = (pointer: string, detail: string): ServerError =>
  new ServerError('invalid_request', 'The passkey was not added. Ask for new options, and try again.', {
    problems: [{ pointer, detail }],
  })

const keyOf = (purpose: Challenge['purpose']): string => canonicalJson(purpose)

/** Anybody can send anything there. Throws `invalid_request`. */
function decodeProof(header: string): z.infer<typeof ProofSchema> {
  try {
    return ProofSchema.parse(JSON.parse(Buffer.from(header, 'base64url').toString('utf8')))
  } catch (cause) {
    throw new ServerError(
      'invalid_request',
      'The header X-Passkey cannot be read. Send base64url of {"challenge_id", "response"}, with what the browser answered.',
      { cause },
    )
  }
}
