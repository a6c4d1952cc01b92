import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../domain/clock.ts'
import type { Ids } from '../../../domain/ids.ts'
import type { ProofPurpose } from '../../../domain/step-up.ts'
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

/** In memory. Each is used once, within two minutes. */
export interface Challenges {
  make(wanted: Pick<Challenge, 'user' | 'purpose' | 'place'>): Challenge
  /** Null: it is unknown, used or too old. */
  take(id: string): Challenge | null
}

const VALID_MS = 2 * 60_000
/** A new one drops the person's oldest, so nobody can drop those of others. */
const MOST_OF_ONE_USER = 20
const CHALLENGE_BYTES = 32

export function createChallenges(
  clock: Clock,
  ids: Ids,
  random: (size: number) => Uint8Array = randomBytes,
): Challenges {
  let open: readonly (Challenge & { endsAt: number })[] = []
  const dropOld = () => {
    const now = clock.mono()
    open = open.filter(({ endsAt }) => endsAt > now)
  }
  return {
    make(wanted) {
      dropOld()
      const challenge = {
        ...wanted,
        id: ids.uuid(),
        challenge: Buffer.from(random(CHALLENGE_BYTES)).toString('base64url'),
      }
      const own = open.filter(({ user }) => user === wanted.user)
      const tooMany = new Set(own.slice(0, Math.max(0, own.length - MOST_OF_ONE_USER + 1)))
      open = [...open.filter((one) => !tooMany.has(one)), { ...challenge, endsAt: clock.mono() + VALID_MS }]
      return challenge
    },
    take(id) {
      dropOld()
      const found = open.find((one) => one.id === id) ?? null
      open = open.filter((one) => one !== found)
      return found
    },
  }
}
