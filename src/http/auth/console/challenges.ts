import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../domain/clock.ts'
import type { Ids } from '../../../domain/ids.ts'
import type { ProofPurpose } from '../../../domain/supervision/step-up.ts'
import type { Shared } from '../../../store/ports/shared.ts'
import type { ConsolePlace } from './own-origin.ts'

/** What a browser was asked to sign, and what for. */
export interface Challenge {
  id: string
  /** The person who asked. Null: somebody who signs in with a passkey alone, so nobody knows yet who they are. */
  user: string | null
  /** Base64url. */
  challenge: string
  /** `registration`: a new passkey signs it. */
  purpose: ProofPurpose | { kind: 'registration' }
  place: Pick<ConsolePlace, 'origin' | 'rpId'>
}

/** Each is used once, within two minutes, or five for somebody who signs in: they may have to find their key first. */
export interface Challenges {
  make(wanted: Pick<Challenge, 'user' | 'purpose' | 'place'>): Promise<Challenge>
  /** Null: it is unknown, used or too old. */
  take(id: string): Promise<Challenge | null>
}

const KIND = 'challenge'
const VALID_MS = 2 * 60_000
const SIGN_IN_VALID_MS = 5 * 60_000
/** A new one drops the person's oldest, so nobody can drop those of others. */
const MOST_OF_ONE_USER = 20
/** More than one address may begin within their time. */
const MOST_OF_STRANGERS = 200
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
      await shared.put({
        ...record,
        version: 0,
        expiresAt: clock.now() + (user === null ? SIGN_IN_VALID_MS : VALID_MS),
      })
      const own = (await shared.list(KIND))
        .filter((one) => read(one).user === user)
        .sort((a, b) => a.version - b.version)
      const most = user === null ? MOST_OF_STRANGERS : MOST_OF_ONE_USER
      for (const { key } of own.slice(0, Math.max(0, own.length - most))) await shared.take(KIND, key)
      return challenge
    },
    async take(id) {
      const record = await shared.take(KIND, id)
      return record === null ? null : read(record)
    },
  }
}
