import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../domain/clock.ts'
import type { Ids } from '../../../domain/ids.ts'
import type { ProofPurpose } from '../../../domain/supervision/step-up.ts'
import type { Shared } from '../../../store/ports/shared.ts'
import type { ConsolePlace } from './own-origin.ts'

/** What a browser was asked to sign, and what for. */
export interface Challenge {
  id: string
  /** The person who asked. */
  user: string
  /** Base64url. */
  challenge: string
  /** `registration`: a new passkey signs it. */
  purpose: ProofPurpose | { kind: 'registration' }
  place: Pick<ConsolePlace, 'origin' | 'rpId'>
}

/** Each is used once, within two minutes. */
export interface Challenges {
  make(wanted: Pick<Challenge, 'user' | 'purpose' | 'place'>): Promise<Challenge>
  /** Null: it is unknown, used or too old. */
  take(id: string): Promise<Challenge | null>
}

const KIND = 'challenge'
const VALID_MS = 2 * 60_000
/** A new one drops the person's oldest, so nobody can drop those of others. */
const MOST_OF_ONE_USER = 20
const CHALLENGE_BYTES = 32

export function createChallenges(
  shared: Pick<Shared, 'list' | 'put' | 'take'>,
  clock: Pick<Clock, 'now'>,
  ids: Ids,
): Challenges {
  // The records are our own, so they are as `make` wrote them.
  const read = ({ value }: { value: string }): Challenge => JSON.parse(value)
  return {
    async make({ user, purpose, place: { origin, rpId } }) {
      const id = ids.uuid()
      const challenge: Challenge = {
        id,
        user,
        purpose,
        place: { origin, rpId },
        challenge: randomBytes(CHALLENGE_BYTES).toString('base64url'),
      }
      const record = { kind: KIND, key: id, value: JSON.stringify(challenge) }
      await shared.put({ ...record, version: 0, expiresAt: clock.now() + VALID_MS })
      const own = (await shared.list(KIND))
        .filter((one) => read(one).user === user)
        .sort((a, b) => a.version - b.version)
      for (const { key } of own.slice(0, Math.max(0, own.length - MOST_OF_ONE_USER))) await shared.take(KIND, key)
      return challenge
    },
    async take(id) {
      const record = await shared.take(KIND, id)
      return record === null ? null : read(record)
    },
  }
}
