// Passkeys as shared records. They are read at each use and never from a copy: a replica that did not know of the first passkey would ask
// for none.

import { ServerError } from '../../../domain/errors.ts'
import type { Shared, SharedRecord } from '../../../store/ports/shared.ts'
import { digestOf } from '../tokens/token.ts'
import { alreadyThere, type Passkey, type Passkeys, parsePasskey, refuseTooMany, storedPasskey } from './passkeys.ts'

const KIND = 'passkey'

export function createSharedPasskeys(shared: Pick<Shared, 'get' | 'list' | 'put' | 'take'>): Passkeys {
  // Under what the browser calls it, so that nobody registers the same one twice.
  const keyOf = ({ credentialId }: Passkey): string => digestOf(credentialId)

  const write = (passkey: Passkey, version: number): Promise<boolean> =>
    shared.put({
      kind: KIND,
      key: keyOf(passkey),
      value: JSON.stringify(storedPasskey(passkey)),
      version,
      expiresAt: null,
    })

  const list = () => listSharedPasskeys(shared)

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

/** Oldest first. */
export const listSharedPasskeys = async (shared: Pick<Shared, 'list'>): Promise<Passkey[]> =>
  (await shared.list(KIND)).map(read).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))

function read({ key, value }: SharedRecord): Passkey {
  try {
    return parsePasskey(value)
  } catch (cause) {
    throw new ServerError(
      'config_invalid',
      `A passkey in the database cannot be read (table shared, kind ${KIND}, key ${key}). If you did not change it, somebody else did. Restore the row, or remove it.`,
      { cause },
    )
  }
}
