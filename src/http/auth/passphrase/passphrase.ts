// The operator's passphrase. It guards decisions that are made at a terminal of this machine: an agent runs as the same OS user and may
// find a token, but it does not know what a person types. Only a slow hash is stored, beside the tokens.

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { type ConfigFileOptions, createConfigFile } from '../config-folder/config-file.ts'

export interface Passphrase {
  readonly path: string
  /** Throws `config_invalid` if its file cannot be used. */
  isSet(): boolean
  /** Throws `passphrase_required` if none is set, `passphrase_wrong`, and `rate_limited` after five wrong ones. */
  verify(text: string): Promise<void>
  /** The first one. Throws `conflict` if there is one, `invalid_request` if it is too short. */
  set(text: string): Promise<void>
  /** Throws what `verify` and `set` throw. */
  change(old: string, next: string): Promise<void>
}

/** About 0.2 s and 64 MB for each try. The file says which cost it was made with, so that a later version can raise it. */
const COST = { N: 2 ** 16, r: 8, p: 1 }
const HASH_BYTES = 32
const MAX_FILE_BYTES = 10_000
const MIN_LENGTH = 8
const MAX_LENGTH = 512
/** Tries without waiting. */
const FREE_TRIES = 5
const MAX_WAIT_S = 300
/** Each try takes a moment of a processor, so they stand in a queue. */
const MAX_QUEUE = 8

const base64 = z.string().regex(/^[\w-]{22,64}$/)
const ContentSchema = z.object({
  // The bounds keep a changed file from using up the memory of the server.
  scrypt: z.object({
    N: z
      .int()
      .min(2)
      .max(2 ** 18),
    r: z.int().min(1).max(16),
    p: z.int().min(1).max(4),
  }),
  salt: base64,
  hash: base64,
})
type Content = z.infer<typeof ContentSchema>

interface PassphraseOptions extends ConfigFileOptions {
  clock: Clock
  /** For tests: the cost of a hash. */
  cost?: typeof COST
}

export function createPassphrase({ clock, cost = COST, ...options }: PassphraseOptions): Passphrase {
  const file = createConfigFile('passphrase', options)
  const limit = createTryLimit(clock)
  const queue = createQueue()

  function read(): Content | null {
    const text = file.read({ maxBytes: MAX_FILE_BYTES, refuse: unusable })
    if (text === null) return null
    try {
      return ContentSchema.parse(JSON.parse(text))
    } catch (error) {
      throw unusable('it is damaged', error)
    }
  }

  const unusable = (why: string, cause?: unknown): ServerError =>
    new ServerError(
      'config_invalid',
      `The file of the passphrase cannot be used: ${why}. If you did not change ${file.path}, somebody else did. Remove it and set a new passphrase with quarterdeck ctl passphrase.`,
      { cause },
    )

  async function check(text: string): Promise<void> {
    limit.check()
    const content = read()
    if (content === null) throw noPassphrase()
    const expected = Buffer.from(content.hash, 'base64url')
    const found = await hashOf(text, Buffer.from(content.salt, 'base64url'), content.scrypt)
    const isRight = expected.length === found.length && timingSafeEqual(expected, found)
    limit.count(isRight)
    if (!isRight) throw new ServerError('passphrase_wrong', 'This is not the passphrase.')
  }

  async function keep(text: string): Promise<void> {
    const length = normal(text).length
    if (length < MIN_LENGTH || length > MAX_LENGTH) {
      throw new ServerError(
        'invalid_request',
        `A passphrase has ${MIN_LENGTH} to ${MAX_LENGTH} characters. Take a few words that nobody guesses.`,
      )
    }
    const salt = randomBytes(16)
    const hash = await hashOf(text, salt, cost)
    const content = { scrypt: cost, salt: salt.toString('base64url'), hash: hash.toString('base64url') }
    file.write(`${JSON.stringify({ data_dir: file.dataDir, ...content })}\n`)
  }

  return {
    path: file.path,
    isSet: () => read() !== null,
    verify: (text) => queue(() => check(text)),
    set: (text) =>
      queue(async () => {
        if (read() !== null) {
          throw new ServerError('conflict', 'There is a passphrase already. To change it you need the old one.')
        }
        await keep(text)
      }),
    change: (old, next) =>
      queue(async () => {
        await check(old)
        await keep(next)
      }),
  }
}

export const noPassphrase = (): ServerError =>
  new ServerError('passphrase_required', 'There is no passphrase yet. Set one with: quarterdeck ctl passphrase')

/** Keyboards write the same character in different ways. */
const normal = (text: string): string => text.normalize('NFKC').trim()

function hashOf(text: string, salt: Uint8Array, cost: typeof COST): Promise<Buffer> {
  const maxmem = 256 * cost.N * cost.r
  return new Promise((resolve, reject) => {
    scrypt(normal(text), salt, HASH_BYTES, { ...cost, maxmem }, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}

/** After five wrong ones in a row, each try has to wait twice as long as the one before. */
function createTryLimit(clock: Clock) {
  let wrong = 0
  let until = 0
  return {
    check(): void {
      const left = Math.ceil((until - clock.mono()) / 1000)
      if (left <= 0) return
      throw new ServerError('rate_limited', `Too many wrong passphrases; try again in ${left} s.`, {
        details: { retry_after_seconds: left },
      })
    },
    count(isRight: boolean): void {
      wrong = isRight ? 0 : wrong + 1
      if (wrong < FREE_TRIES) return
      until = clock.mono() + 1000 * Math.min(2 ** Math.min(wrong - FREE_TRIES, 30), MAX_WAIT_S)
    },
  }
}

function createQueue() {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting >= MAX_QUEUE) {
      const details = { retry_after_seconds: 5 }
      return Promise.reject(new ServerError('rate_limited', 'Too many tries at once; try again in 5 s.', { details }))
    }
    waiting += 1
    const done = last.then(work).finally(() => {
      waiting -= 1
    })
    last = done.catch(() => {})
    return done
  }
}
