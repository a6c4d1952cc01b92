// The passkeys of a server: public keys, so there is nothing secret in their file. It is stored beside the tokens, because whoever can
// change it can do what needs a passkey.

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
  /** Oldest first. Throws `config_invalid` if they cannot be read or trusted. */
  list(): Promise<readonly Passkey[]>
  /** It is on disk when it resolves. Throws `limit`, `conflict`, `storage_full` and `config_invalid`. */
  add(passkey: Passkey): Promise<void>
  /** False: it was used or removed since it was read. */
  used(passkey: Passkey, counter: number, at: number): Promise<boolean>
  /** Null: there is none. */
  remove(id: string): Promise<Passkey | null>
}

const MOST_OF_ONE_USER = 20
const MAX_BYTES = 4_000_000

const base64url = z.string().regex(/^[\w-]+$/)
const time = z.iso.datetime()
const PasskeySchema = z
  .strictObject({
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
  })
  .transform(
    (one): Passkey => ({
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
    }),
  )
const ContentSchema = z.strictObject({ data_dir: z.string(), passkeys: z.array(PasskeySchema) })

/** Throws if the text is no passkey. */
export const parsePasskey = (text: string): Passkey => PasskeySchema.parse(JSON.parse(text))

/**
 * Null: nothing is stored. Throws `config_invalid` for a file that cannot be read or trusted: a server that ignored it would ask for no
 * passkey any more. Only for the holder of the lock of the data directory.
 */
export function openPasskeys(kept: ConfigFileOptions | null): Passkeys {
  const file = kept === null ? null : createConfigFile('passkeys', kept)
  let passkeys: readonly Passkey[] = file === null ? [] : read(file)

  function keep(next: readonly Passkey[]): void {
    file?.write(`${JSON.stringify({ data_dir: file.dataDir, passkeys: next.map(storedPasskey) }, null, 2)}\n`)
    passkeys = next
  }

  return {
    list: async () => passkeys,
    async add(passkey) {
      if (passkeys.some(({ credentialId }) => credentialId === passkey.credentialId)) throw alreadyThere()
      refuseTooMany(passkeys, passkey.user)
      keep([...passkeys, passkey])
    },
    async used({ id, counter: before }, counter, at) {
      if (!passkeys.some((one) => one.id === id && one.counter === before)) return false
      keep(passkeys.map((one) => (one.id === id ? { ...one, counter, lastUsedAt: at } : one)))
      return true
    },
    async remove(id) {
      const found = passkeys.find((one) => one.id === id) ?? null
      if (found !== null) keep(passkeys.filter((one) => one !== found))
      return found
    },
  }
}

export const alreadyThere = (): ServerError => new ServerError('conflict', 'This passkey is registered already.')

export function refuseTooMany(passkeys: readonly Passkey[], person: string): void {
  if (passkeys.filter(({ user }) => user === person).length < MOST_OF_ONE_USER) return
  throw new ServerError('limit', `A person has at most ${MOST_OF_ONE_USER} passkeys. Remove one first.`)
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
    return ContentSchema.parse(JSON.parse(text)).passkeys
  } catch (error) {
    throw unusable('it is damaged', error)
  }
}

export const storedPasskey = (one: Passkey) => ({
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
