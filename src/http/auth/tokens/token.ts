// A token is shown to its person once. From then on there is its SHA-256 and nothing else, here and on disk.

import { hash } from 'node:crypto'
import { ServerError } from '../../../domain/errors.ts'

export const tokenRoles = ['user', 'operator'] as const
export type TokenRole = (typeof tokenRoles)[number]

/** What a token stands for comes from this table alone; nothing in a request can add to it. */
export interface Token {
  /** Of its record; null where a setting gives it or it lives in memory alone. */
  id: string | null
  user: string
  role: TokenRole
  /** Lower-case hex. */
  sha256: string
}

/** As it stands in the token file. */
export interface TokenRecord extends Token {
  id: string
  /** For people, to tell one from another. */
  name: string
  /** ISO 8601. */
  created_at: string
}

export const digestOf = (token: string): string => hash('sha256', token, 'hex')

/** 256 bits. Our own tokens are recognisable, so that logs can mask them without knowing them. */
export const newToken = (random: (size: number) => Uint8Array): string =>
  `qd_${Buffer.from(random(32)).toString('base64url')}`

/** Throws `config_invalid` for a token that people wrote and that cannot be one. */
export function checkTokenText(token: string, user: string): void {
  if (/^[\x21-\x7e]{16,512}$/.test(token)) return
  throw new ServerError(
    'config_invalid',
    `The token of ${JSON.stringify(user)} must be 16 to 512 printable ASCII characters without spaces.`,
  )
}

/** Throws `config_invalid` for a table in which a user could decide: one token must not stand for two things. */
export function checkTokens<T extends Token>(tokens: readonly T[]): readonly T[] {
  const seen = new Map<string, Token>()
  for (const token of tokens) {
    const same = seen.get(token.sha256)
    if (same !== undefined && (same.role !== token.role || same.user !== token.user)) {
      throw new ServerError(
        'config_invalid',
        `Two tokens are the same; user and operator need one each (${JSON.stringify(token.user)}).`,
      )
    }
    seen.set(token.sha256, token)
  }
  return tokens
}
