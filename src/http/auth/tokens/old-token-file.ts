// `tokens.json`: older versions stored tokens there in plain text, in the data directory. It is read once, to import its tokens.

import { rmSync } from 'node:fs'
import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { LOCAL_USER } from '../../../domain/session.ts'
import { personRoles } from '../../../domain/token-role.ts'
import { readPrivateFile } from '../config-folder/read-private-file.ts'
import { checkTokens, checkTokenText, digestOf, type Token } from './token.ts'

const MAX_BYTES = 64 * 1024

const ContentSchema = z.strictObject({
  token: z.string().optional(),
  operator_token: z.string().optional(),
  tokens: z
    .array(z.strictObject({ token: z.string(), user: z.string().regex(/^\w{1,64}$/), role: z.enum(personRoles) }))
    .default([]),
})

type OldTokens = readonly (Omit<Token, 'id'> & { name: string })[]

/** The tokens to import. `refused` if there are stored ones already, in `found`, and the file has others. */
export function oldTokensToTake(
  path: string,
  replaced: Replaced,
  found: readonly Token[] | null,
): OldTokens | 'refused' | null {
  try {
    const tokens = readOldTokens(path, replaced)
    const isKnown = tokens?.every(({ sha256 }) => found?.some((one) => one.sha256 === sha256)) ?? true
    // Otherwise whoever can write to the data directory could become an operator.
    return found === null || isKnown ? tokens : 'refused'
  } catch (error) {
    if (found === null) throw error
    // They must not be able to prevent a start either.
    return 'refused'
  }
}

/** Roles whose first token was replaced by a setting: that token was not valid and must not become valid. */
interface Replaced {
  user: boolean
  operator: boolean
}

/** The valid tokens of the file, or null if there is no such file. Throws `config_invalid` if the file cannot be used. */
function readOldTokens(path: string, replaced: Replaced): OldTokens | null {
  const text = readPrivateFile(path, { maxBytes: MAX_BYTES, refuse: (why, cause) => unusable(path, why, cause) })
  if (text === null) return null
  const content = parse(path, text)
  const given = [
    ...(content.token === undefined || replaced.user
      ? []
      : [{ token: content.token, user: LOCAL_USER, role: 'user' as const }]),
    ...(content.operator_token === undefined || replaced.operator
      ? []
      : [{ token: content.operator_token, user: LOCAL_USER, role: 'operator' as const }]),
    ...content.tokens,
  ]
  for (const { token, user } of given) checkTokenText(token, user)
  const found = given.map(({ token, user, role }) => ({
    id: null,
    name: 'tokens.json',
    user,
    role,
    sha256: digestOf(token),
  }))
  return checkTokens(found)
}

export function removeOldTokens(path: string): void {
  try {
    rmSync(path)
  } catch (cause) {
    // A server that lost its token file would import it again, including tokens that were revoked meanwhile.
    throw new ServerError(
      'config_invalid',
      `${path} was imported but cannot be removed. Remove it, then start again.`,
      {
        details: { path },
        cause,
      },
    )
  }
}

function parse(path: string, text: string): z.infer<typeof ContentSchema> {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    // The parser's message quotes the text, which is secret.
    throw unusable(path, 'it is not valid JSON')
  }
  const parsed = ContentSchema.safeParse(content)
  if (parsed.success) return parsed.data
  const where = parsed.error.issues[0]?.path.join('.') ?? ''
  throw unusable(path, where === '' ? 'it is not a token file' : `${where} is not valid`)
}

function unusable(path: string, why: string, cause?: unknown): ServerError {
  return new ServerError(
    'config_invalid',
    `The tokens in ${path} cannot be imported: ${why}. Fix the file, or remove it and create new tokens: quarterdeck tokens create`,
    { details: { path }, cause },
  )
}
