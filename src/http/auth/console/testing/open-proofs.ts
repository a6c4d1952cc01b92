// Passkeys in memory, and people who have one in software.

import { createIds } from '../../../../domain/ids.ts'
import { silentLogger } from '../../../../domain/logger.ts'
import type { ProofPurpose } from '../../../../domain/supervision/step-up.ts'
import { createLocalShared } from '../../../../store/local-shared.ts'
import { createManualClock } from '../../../testing/server-fixture.ts'
import { createChallenges } from '../challenges.ts'
import { createPasskeys } from '../passkeys.ts'
import { createProofs } from '../proofs.ts'
import { AttestationSchema } from '../web-authn.ts'
import { createSoftwareAuthenticator, type SoftwareAuthenticator } from './software-authenticator.ts'

export const place = { origin: 'http://localhost:8000', rpId: 'localhost', whyNot: null }

/** The value of the header X-Passkey. */
export const proofText = (challengeId: string, response: unknown): string =>
  Buffer.from(JSON.stringify({ challenge_id: challengeId, response })).toString('base64url')

export function openProofs(clock = createManualClock()) {
  const shared = createLocalShared(clock)
  const passkeys = createPasskeys(shared)
  const ids = createIds(clock.now)
  const proofs = createProofs({
    passkeys,
    challenges: createChallenges(shared, clock, ids),
    personOf: (user) => (user === 'operator' ? 'local_user' : user),
    link: (id) => `http://localhost:8000/console/${id === null ? 'settings' : `inbox/${id}`}`,
    clock,
    ids,
    log: silentLogger,
  })

  /** From now on this person has a passkey. */
  async function register(user: string): Promise<SoftwareAuthenticator> {
    const authenticator = createSoftwareAuthenticator()
    const { challenge_id, options } = await proofs.askNew(user, place)
    const response = AttestationSchema.parse(authenticator.create(options, place))
    await proofs.register(user, { challengeId: challenge_id, label: '', response })
    return authenticator
  }

  /** What this person sends when they agree. */
  async function prove(user: string, purpose: ProofPurpose, authenticator: SoftwareAuthenticator): Promise<string> {
    const asked = await proofs.ask(user, purpose, place)
    if (asked === null) throw new Error(`${user} has no passkey`)
    return proofText(asked.challenge_id, authenticator.get(asked.options, place))
  }

  return { clock, passkeys, proofs, register, prove }
}
