// The passkeys of one data directory: public keys, so there is nothing secret in the file. It is stored beside the tokens, because
// whoever can change it can do what needs a passkey.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { type ConfigFileOptions, createConfigFile } from '../config-folder/config-file.ts'

export interface Passkey {
  id: string
  /** The person it belongs to. */
  user: string
  label: string
  /** Host name that the browser used it for. It works nowhere else. */
  rpId: string
  /** What the browser calls it, base64url. */
  credentialId: string
  /** COSE, base64url. */
  publicKey: string
  /** How often it was used, as far as it counts. A copy of it would count on its own. */
  counter: number
  transports: readonly string[]
  createdAt: number
  lastUsedAt: number | null
}

export interface Passkeys {
  readonly path: string | null
  /** Oldest first. */
  list(): readonly Passkey[]
  /** It is on disk when it returns. Throws `limit`, `conflict`, `storage_full` and `config_invalid`. */
  add(passkey: Passkey): void
  used(id: string, counter: number, at: number): void
  /** Null: there is none. */
  remove(id: string): Passkey | null
}

const MOST_OF_ONE_USER = 20
const MAX_BYTES = 4_000_000

const base64url = z.string().regex(/^[\w-]+$/)
const time = z.iso.datetime()
const ContentSchema = z.strictObject({
  data_dir: z.string(),
  passkeys: z.array(
    z.strictObject({
      id: z.string().min(1).max(64),
      user: z.string().min(1).max(200),
      label: z.string().max(100),
      rp_id: z.string().min(1).max(255),
      credential_id: base64url.max(2_000),
      public_key: base64url.max(8_000),
      counter: z.int().min(0),
      transports: z.array(z.string().max(30)).max(10),
      created_at: time,
      last_used_at: time.nullable(),
    }),
  ),
})

/**
 * Null: nothing is stored. Throws `config_invalid` for a file that cannot be read or trusted: a server that ignored it would ask for no
 * passkey any more. Only for the holder of the lock of the data directory.
 */
export function openPasskeys(kept: ConfigFileOptions | null): Passkeys {
  const file = kept === null ? null : createConfigFile('passkeys', kept)
  let passkeys: readonly Passkey[] = file === null ? [] : read(file)

  function keep(next: readonly Passkey[]): void {
    file?.write(`${JSON.stringify({ data_dir: file.dataDir, passkeys: next.map(stored) }, null, 2)}\n`)
    passkeys = next
  }

  return {
    path: file?.path ?? null,
    list: () => passkeys,
    add(passkey) {
      if (passkeys.some(({ credentialId }) => credentialId === passkey.credentialId)) {
        throw new ServerError('conflict', 'This passkey is registered already.')
      }
      if (passkeys.filter(({ user }) => user === passkey.user).length >= MOST_OF_ONE_USER) {
        throw new ServerError('limit', `A person has at most ${MOST_OF_ONE_USER} passkeys. Remove one first.`)
      }
      keep([...passkeys, passkey])
    },
    used: (id, counter, at) => keep(passkeys.map((one) => (one.id === id ? { ...one, counter, lastUsedAt: at } : one))),
    remove(id) {
      const found = passkeys.find((one) => one.id === id) ?? null
      if (found !== null) keep(passkeys.filter((one) => one !== found))
      return found
    },
  }
}

function read(file: ReturnType<typeof createConfigFile>): readonly Passkey[] {
  const unusable = (why: string, cause?: unknown): ServerError =>
    new ServerError(
      'config_invalid',
      `The file of passkeys ${file.path} cannot be used: ${why}. If you did not change it, somebody else did. Restore it, or remove it: then nothing needs a passkey until you add one.`,
      { details: { path: file.path }, cause },
    )
  const text = file.read({ maxBytes: MAX_BYTES, refuse: unusable })
  if (text === null) return []
  try {
    return ContentSchema.parse(JSON.parse(text)).passkeys.map((one) => ({
      id: one.id,
      user: one.user,
      label: one.label,
      rpId: one.rp_id,
      credentialId: one.credential_id,
      publicKey: one.public_key,
      counter: one.counter,
      transports: one.transports,
      createdAt: Date.parse(one.created_at),
      lastUsedAt: one.last_used_at === null ? null : Date.parse(one.last_used_at),
    }))
  } catch (error) {
    throw unusable('it is damaged', error)
  }
}

const stored = (one: Passkey) => ({
  id: one.id,
  user: one.user,
  label: one.label,
  rp_id: one.rpId,
  credential_id: one.credentialId,
  public_key: one.publicKey,
  counter: one.counter,
  transports: one.transports,
  created_at: new Date(one.createdAt).toISOString(),
  last_used_at: one.lastUsedAt === null ? null : new Date(one.lastUsedAt).toISOString(),
})
