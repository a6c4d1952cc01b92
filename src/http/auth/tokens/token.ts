// A token is shown once, when it is created. After that only its SHA-256 exists, in memory and on disk.

import { hash, randomBytes } from 'node:crypto'
import { ServerError } from '../../../domain/errors.ts'
import type { Scope, TokenRole } from '../../../domain/supervision/token-role.ts'

/** User and role of a token come only from here. Nothing in a request can change them. */
export interface Token {
  /** Id of its record. Null for a token from a setting, or one that exists only in memory. */
  id: string | null
  user: string
  role: TokenRole
  /** Real path of the folder that an agent's token is bound to. Tokens of people have none. */
  workspace?: string
  /** The channel that the sessions of an agent's token report to. */
  channel?: string
  /** All that it may do of what its role may; absent: everything. */
  scopes?: readonly Scope[]
  /** The only agent that it may talk to; absent: all. */
  agent?: string
  /** ISO 8601. From then on it is refused; absent: it does not end. */
  expires_at?: string
  /** The token of a browser that is signed in to the console. */
  isConsole?: true
  /** Lower-case hex. */
  sha256: string
}

/** A token as it is stored. */
export interface TokenRecord extends Token {
  id: string
  /** Helps people to tell tokens apart. */
  name: string
  /** ISO 8601. */
  created_at: string
}

export const digestOf = (token: string): string => hash('sha256', token, 'hex')

/** 256 random bits. The prefix lets logs mask our tokens without knowing them. */
export const newToken = (): string => `qd_${randomBytes(32).toString('base64url')}`

/** Throws `config_invalid` if the text cannot be a token. People may write their own. */
export function checkTokenText(token: string, user: string): void {
  if (/^[\x21-\x7e]{16,512}$/.test(token)) return
  throw new ServerError(
    'config_invalid',
    `The token of ${JSON.stringify(user)} must be 16 to 512 printable ASCII characters without spaces.`,
  )
}

/** Throws `config_invalid` if one token stands for two users or roles: a user could decide with it. */
export function checkTokens<T extends Token>(tokens: readonly T[]): readonly T[] {
  const seen = new Map<string, Token>()
  for (const token of tokens) {
    const same = seen.get(token.sha256)
    if (same !== undefined && (same.role !== token.role || same.user !== token.user)) {
      throw new ServerError(
        'config_invalid',
        `Two tokens are the same (${JSON.stringify(token.user)}). Give the user and the operator different tokens.`,
      )
    }
    seen.set(token.sha256, token)
  }
  return tokens
}
