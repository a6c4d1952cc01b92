import { ServerError } from '../../../domain/errors.ts'
import type { Shared } from '../../../store/ports/shared.ts'
import type { SecretKind } from './kept-secret.ts'

const KIND = 'secret'

/** A secret that all replicas of a store know. Whoever needs it first makes it. Throws `config_invalid` if it cannot be read. */
export async function openSharedSecret<T extends object>(
  shared: Pick<Shared, 'get' | 'put'>,
  { kind: key, schema, make }: SecretKind<T>,
): Promise<T> {
  if ((await shared.get(KIND, key)) === null) {
    // Another replica may be faster. Then its secret counts.
    await shared.put({ kind: KIND, key, value: JSON.stringify(make()), version: 0, expiresAt: null })
  }
  const record = await shared.get(KIND, key)
  try {
    return schema.parse(JSON.parse(record?.value ?? ''))
  } catch (cause) {
    throw new ServerError(
      'config_invalid',
      `A secret in the database cannot be read (table shared, kind ${KIND}, key ${key}). Restore the row, or remove it: then a new one is made, and what the old one signed is void.`,
      { cause },
    )
  }
}
