// The passkeys of a server: public keys, so there is nothing secret in their records. They are stored beside the tokens, because whoever
// can change them can do what needs a passkey.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import type { Shared, SharedRecord } from '../../../store/ports/shared.ts'
import type { RecordFormat } from '../config-folder/record-file.ts'
import { digestOf } from '../tokens/token.ts'

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

const KIND = 'passkey'
const MOST_OF_ONE_USER = 20

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
/** The file of passkeys in the config folder. Whoever can change it can do what needs a passkey, so a file that cannot be trusted is an
 * error: a server that ignored it would ask for no passkey any more. */
export const passkeyFormat: RecordFormat<Passkey> = {
  name: 'passkeys',
  schema: PasskeySchema,
  maxBytes: 4_000_000,
  keyOf: (passkey) => keyOf(passkey),
  expiresAt: () => null,
  unusable: (path, why) =>
    `The file of passkeys ${path} cannot be used: ${why}. If you did not change it, somebody else did. Restore it, or remove it: then nothing needs a passkey until you add one.`,
  damaged: () => 'it is damaged',
}

/** Passkeys are read at each use and never from a copy: a server that did not know of the first passkey would ask for none. */
export function createPasskeys(shared: Pick<Shared, 'get' | 'list' | 'put' | 'take'>): Passkeys {
  const write = (passkey: Passkey, version: number): Promise<boolean> =>
    shared.put({
      kind: KIND,
      key: keyOf(passkey),
      value: JSON.stringify(storedPasskey(passkey)),
      version,
      expiresAt: null,
    })

  const list = () => listPasskeys(shared)

  return {
    list,
    async add(passkey) {
      refuseTooMany(await list(), passkey.user)
      if (!(await write(passkey, 0))) throw alreadyThere()
    },
    async used(passkey, counter, at) {
      const record = await shared.get(KIND, keyOf(passkey))
      if (record === null || read(record).counter !== passkey.counter) return false
      return write({ ...read(record), counter, lastUsedAt: at }, record.version)
    },
    async remove(id) {
      const found = (await list()).find((one) => one.id === id)
      const taken = found === undefined ? null : await shared.take(KIND, keyOf(found))
      return taken === null ? null : read(taken)
    },
  }
}

const alreadyThere = (): ServerError => new ServerError('conflict', 'This passkey is registered already.')

function refuseTooMany(passkeys: readonly Passkey[], person: string): void {
  if (passkeys.filter(({ user }) => user === person).length < MOST_OF_ONE_USER) return
  throw new ServerError('limit', `A person has at most ${MOST_OF_ONE_USER} passkeys. Remove one first.`)
}

// Under what the browser calls it, so that nobody registers the same one twice.
const keyOf = ({ credentialId }: Passkey): string => digestOf(credentialId)

/** Oldest first. */
export const listPasskeys = async (shared: Pick<Shared, 'list'>): Promise<Passkey[]> =>
  (await shared.list(KIND)).map(read).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))

function read({ key, value }: SharedRecord): Passkey {
  try {
    return PasskeySchema.parse(JSON.parse(value))
  } catch (cause) {
    throw new ServerError(
      'config_invalid',
      `A passkey in the database cannot be read (table shared, kind ${KIND}, key ${key}). If you did not change it, somebody else did. Restore the row, or remove it.`,
      { cause },
    )
  }
}

const storedPasskey = (one: Passkey) => ({
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
